// A user's own tensors: a folder with q.npy, k.npy, v.npy and, where there is one, o.npy.
#ifndef HOST_DATA_H
#define HOST_DATA_H

#include "host/inputs.h"

// Shapes are [batch][heads][n][head_dim], [heads][n][head_dim] or [n][head_dim]. *o is NULL where there is no o.npy;
// free it. inputs->shape.causal is taken from causal.
bool data_load(const char *folder, bool causal, struct host_inputs *inputs, float **o, struct message *error);

#endif
