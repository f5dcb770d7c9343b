// Which elements of a tile a lane holds. Defined by the lesson.
#pragma once

// The index of a lane's i-th row within its warp, and of its j-th column within the tile.
template <class T>
__device__ inline int row_of(int i, int lane);
template <class T>
__device__ inline int column_of(int j, int lane);
