// What the theme and Markdown leave to be said to a screen reader, and a keyboard: levels and names of landmarks, cells of a table's head
// without text, and areas that scroll sideways.
addEventListener('load', () => {
    for (const e of document.querySelectorAll('.caption[role=heading]'))
        e.setAttribute('aria-level', 2);
    document.querySelector('aside.sidebar-drawer')?.setAttribute('aria-label', 'All pages');
    document.querySelector('aside.toc-drawer')?.setAttribute('aria-label', 'On this page');
    for (const e of document.querySelectorAll('th'))
        if (!e.textContent.trim())
            e.replaceWith(document.createElement('td'));
    const areas = document.querySelectorAll('pre, .table-wrapper');
    const reach = () => areas.forEach(e => e.scrollWidth > e.clientWidth ? e.tabIndex = 0 : e.removeAttribute('tabindex'));
    areas.forEach(e => {
        e.setAttribute('role', 'group');
        e.setAttribute('aria-label', e.matches('pre') ? 'Code' : 'Table');
    });
    reach();
    addEventListener('resize', reach);
});
