// SPDX-License-Identifier: Apache-2.0
// The bar that narrows everything below it: task and target, workloads, groups, contestants.
function option(value, text, selected) { return el('option', {value, selected}, text); }

function targetPicker() {
  return el(
      'select', {
        'aria-label': 'Task and target',
        id: 'pick-view',
        onchange: event => update(
            {view: event.target.value === 'all' ? null : Number(event.target.value), group: ''})
      },
      views.length > 1 ? option('all', 'All ' + views.length + ' tasks and targets') : null,
      views.map(v => option(String(v.index), title(v))));
}

function contestantToggle(contestant) {
  const button =
      el('button', {
        type: 'button',
        class: 'toggle',
        'aria-pressed': 'true',
        title: contestant.label,
        onclick: () => {
          const on = new Set(state.on);
          if (!on.delete(contestant.index)) on.add(contestant.index);
          update({on});
        }
      },
         dot(contestant), el('span', {}, contestant.label));
  onChange(() => button.setAttribute('aria-pressed', String(state.on.has(contestant.index))));
  return button;
}

function setUpFilters() {
  const groups = el('select', {
    'aria-label': 'Group',
    id: 'pick-group',
    onchange: event => update({group: event.target.value})
  });
  const search = el('input', {
    type: 'search',
    id: 'search',
    placeholder: 'Filter workloads',
    'aria-label': 'Filter workloads by name or group'
  });
  let waiting = 0;
  search.addEventListener('input', () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => update({text: search.value}), 150);
  });
  const count = el('span', {class: 'count num', role: 'status', id: 'count'});
  const bar =
      el('div', {class: 'filters', role: 'search', 'aria-label': 'Filters'},
         el('form', {onsubmit: event => event.preventDefault()},
            el('div', {class: 'pick'}, targetPicker(), groups, search, count),
            el('div', {class: 'toggles', role: 'group', 'aria-label': 'Contestants'},
               contestants.map(contestantToggle))));
  document.getElementById('filters').replaceWith(bar);
  let listedView = null;
  onChange(() => {
    const view = detailView();
    if (listedView !== view) {
      const names =
          view.table.groups.slice().sort((a, b) => a.localeCompare(b, 'en', {numeric: true}));
      fill(
          groups, option('', 'All ' + plural(names.length, 'group')),
          names.map(name => option(name, name)));
      listedView = view;
    }
    groups.value = state.group;
    const all = view.table.ids.length, shown = selectedRows().length;
    count.textContent = shown === all ?
        plural(all, 'workload') :
        shown.toLocaleString('en') + ' of ' + plural(all, 'workload');
  });
  window.addEventListener(
      'scroll', () => bar.classList.toggle('stuck', bar.getBoundingClientRect().top <= 0),
      {passive: true});
}
