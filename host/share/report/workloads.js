// SPDX-License-Identifier: Apache-2.0
// Every workload with its answers: sorted by any column, filtered by the bar, a page at a time.
function sortValue(table, column, contestant) {
  if (column === 'name') return i => table.names[i] || String(table.ids[i]);
  if (column === 'group') return i => table.groups[table.group[i]];
  if (column === 'truth') return i => table.truth[i];
  return i => table.contestants[contestant][column][i];
}

// Rows without a value come last whichever way the column is sorted.
function sortedRows(table) {
  const {column, contestant, down} = state.sort, value = sortValue(table, column, contestant),
                             sign = down ? -1 : 1;
  return selectedRows().slice().sort((a, b) => {
    const x = value(a), y = value(b);
    if (typeof x === 'string') return sign * x.localeCompare(y, 'en', {numeric: true}) || a - b;
    if (!isNumber(x) || !isNumber(y)) return isNumber(y) - isNumber(x) || a - b;
    return sign * (x - y) || a - b;
  });
}

function sortHead(text, column, contestant, right) {
  const own = state.sort.column === column &&
      (contestant === undefined || state.sort.contestant === contestant);
  const sort = own ? (state.sort.down ? 'descending' : 'ascending') : null;
  return el(
      'th', {scope: 'col', class: right ? 'right' : null, 'aria-sort': sort},
      el('button', {
        type: 'button',
        onclick: () => turnPage({
          sort: {column, contestant: contestant ?? 0, down: own ? !state.sort.down : right},
          page: 0
        })
      },
         text));
}

// Sorting and paging change this table only.
let drawWorkloads = () => {};
function turnPage(change) {
  const focused = document.activeElement && document.activeElement.textContent;
  Object.assign(state, change);
  drawWorkloads();
  const again =
      [...document.querySelectorAll('#workloads button')].find(b => b.textContent === focused);
  if (again) again.focus({preventScroll: true});
}

// A class by its name, a decision as the candidate with its true cost.
function valueText(view, value, candidate) {
  const name = isNumber(candidate) ? view.table.classes[candidate] : '';
  if (!isNumber(value)) return name || '\u2013';
  if (view.target.kind === 'class') return view.table.classes[value];
  return name ? name + ' (' + number(value) + ')' : number(value);
}

function workloadRow(view, i, shown) {
  const table = view.table;
  const losses = shown.map(c => table.contestants[c.index].loss[i]).filter(isNumber),
        best = Math.min(...losses);
  return el(
      'tr', {}, el('td', {}, table.names[i] || '#' + table.ids[i]),
      el('td', {class: 'faint'}, table.groups[table.group[i]]),
      el('td', {class: 'right'}, valueText(view, table.truth[i], table.best && table.best[i])),
      shown.map(c => {
        const own = table.contestants[c.index], status = table.statuses[own.status[i]];
        const flagged =
            status && status !== 'ok' ? el('span', {class: 'status', title: status}, status) : null;
        return [
          el('td', {class: 'right'},
             isNumber(own.predicted[i]) ?
                 valueText(view, own.predicted[i], own.pick && own.pick[i]) :
                 null,
             isNumber(own.predicted[i]) && flagged ? ' ' : null,
             flagged || (isNumber(own.predicted[i]) ? null : '\u2013')),
          el('td', {class: 'right' + (losses.length > 1 && own.loss[i] === best ? ' best' : '')},
             number(own.loss[i]))
        ];
      }));
}

function pager(count) {
  const pages = Math.max(1, Math.ceil(count / state.pageSize));
  const from = count ? state.page * state.pageSize + 1 : 0,
        to = Math.min(count, (state.page + 1) * state.pageSize);
  const step = (text, page, usable) => el(
      'button',
      {type: 'button', class: 'quiet', disabled: !usable, onclick: () => turnPage({page})}, text);
  return el(
      'div', {class: 'pager'},
      el('span', {class: 'num'},
         from.toLocaleString('en') + '\u2013' + to.toLocaleString('en') + ' of ' +
             plural(count, 'workload')),
      el('select', {
        'aria-label': 'Workloads a page',
        onchange: event => turnPage({pageSize: Number(event.target.value), page: 0})
      },
         [25, 100, 500].map(n => option(String(n), n + ' a page', n === state.pageSize))),
      step('Previous', state.page - 1, state.page > 0),
      step('Next', state.page + 1, state.page + 1 < pages));
}

function setUpWorkloads(parent) {
  const part = section('workloads', 'Workloads', ' ');
  parent.append(part.node);
  drawWorkloads = () => {
    const view = detailView(), table = view.table, shown = shownContestants();
    const rows = sortedRows(table),
          page = rows.slice(state.page * state.pageSize, (state.page + 1) * state.pageSize);
    const unit = view.target.kind === 'class' ? '' : view.target.unit;
    part.tag.textContent = title(view);
    part.note.textContent = 'The smallest loss of a row is bold. Loss: ' +
        withUnit(lossName(view.target), view.target.loss_unit) + '.' +
        (table.total > table.ids.length ?
             ' This page holds an even sample of ' + table.ids.length.toLocaleString('en') +
                 ' of ' + plural(table.total, 'workload') + '; losses.csv beside it has all.' :
             '');
    const head = el(
        'thead', {},
        el('tr', {}, el('th', {colspan: '3'}),
           shown.map(c => el('th', {colspan: '2', scope: 'colgroup', class: 'right'}, who(c)))),
        el('tr', {}, sortHead('workload', 'name'), sortHead('group', 'group'),
           sortHead(
               withUnit(isDecision(view.target) ? 'best' : 'truth', unit), 'truth', undefined,
               true),
           shown.map(
               c =>
                   [sortHead(
                        isDecision(view.target) ? 'pick' : 'predicted', 'predicted', c.index, true),
                    sortHead('loss', 'loss', c.index, true)])));
    fill(
        part.body,
        el('div', {class: 'scroll'},
           el('table', {class: 'workloads'}, head,
              el('tbody', {}, page.map(i => workloadRow(view, i, shown))))),
        rows.length ? null : el('p', {class: 'empty'}, 'No workload passes the filters.'),
        pager(rows.length));
  };
  onChange(drawWorkloads);
}
