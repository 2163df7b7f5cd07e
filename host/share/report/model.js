// SPDX-License-Identifier: Apache-2.0
// The comparison as the page holds it, what is selected, and who must hear of a change.
const comparison = JSON.parse(document.getElementById('comparison').textContent);
const extra = JSON.parse(document.getElementById('rows').textContent);

const ENTRANT_COLOURS =
    ['#3f7fca', '#e08a2e', '#2ba58c', '#9a6bd0', '#d1577f', '#8f9a2b', '#3aa3bd', '#b0703c'];
const REFERENCE_COLOURS = ['#98a1ac', '#b39b7d', '#82a391', '#a58fa8'];

const contestants = (() => {
  let entrants = 0, references = 0;
  return comparison.contestants.map(
      (facts, index) => ({
        index,
        facts,
        label: facts.label,
        reference: facts.reference,
        baseline: facts.label === comparison.baseline,
        colour: facts.reference ? REFERENCE_COLOURS[references++ % REFERENCE_COLOURS.length] :
                                  ENTRANT_COLOURS[entrants++ % ENTRANT_COLOURS.length]
      }));
})();
const baseline = contestants.find(c => c.baseline);
const byLabel = new Map(contestants.map(c => [c.label, c]));

// One view a target of a task, as split; `regrouped` holds the same with duplicates kept together.
const views = [];
// By order rather than by name, because two tasks may be called the same.
let pairsTaken = 0;
comparison.tasks.forEach((task, taskIndex) => {
  task.targets.forEach((target, targetIndex) => {
    const pairs = comparison.pairs.slice(pairsTaken, pairsTaken + target.results.length - 1);
    pairsTaken += pairs.length;
    const view = {
      task,
      taskIndex,
      target,
      pairs,
      table: extra.tables.find(t => t.task === taskIndex && t.target === targetIndex),
      notes: extra.notes[taskIndex].targets[targetIndex]
    };
    const own = views.find(v => v.task === task && v.target.target === target.target);
    if (target.folds === 'as-split')
      views.push(Object.assign(view, {index: views.length}));
    else if (own)
      own.regrouped = view;
  });
});

const state = {
  view: null,  // null: all of them in the overview, the first in the details
  on: new Set(contestants.map(c => c.index)),
  text: '',
  group: '',
  sort: {column: 'loss', contestant: 0, down: true},
  page: 0,
  pageSize: 25
};
const listeners = [];
function onChange(listener) { listeners.push(listener); }
function update(change) {
  Object.assign(state, {page: 0}, change);
  selectedRows.cache = null;
  listeners.forEach(listener => listener());
}

function shownContestants() { return contestants.filter(c => state.on.has(c.index)); }
function shownViews() { return state.view === null ? views : [views[state.view]]; }
function detailView() { return views[state.view === null ? 0 : state.view]; }

// Rows of the view in detail that pass the filters, by index.
function selectedRows() {
  if (selectedRows.cache) return selectedRows.cache;
  const table = detailView().table;
  const words = state.text.toLowerCase().split(/\s+/).filter(Boolean);
  const rows = [];
  for (let i = 0; i < table.ids.length; i++) {
    const group = table.groups[table.group[i]];
    if (state.group && group !== state.group) continue;
    const text = (table.names[i] + ' ' + group).toLowerCase();
    if (words.every(word => text.includes(word))) rows.push(i);
  }
  return selectedRows.cache = rows;
}

// The median of a loss that is mostly 0 says nothing.
function usesMean(view) { return view.target.kind !== 'number'; }
function typicalLoss(view, result) {
  return usesMean(view) ? result.mean_loss : result.median_loss;
}
function isDecision(target) { return target.loss === 'regret'; }
function title(view) { return view.task.task + ' \u00b7 ' + view.target.target; }
function lossName(target) {
  return {
    'absolute': 'absolute error',
    'squared': 'squared error',
    'absolute-percent': 'absolute % error',
    'zero-one': 'share of wrong classes',
    'log-loss': 'log loss',
    'regret': 'regret against the best candidate'
  }[target.loss] ||
      target.loss;
}
function withUnit(text, unit) { return unit && unit !== '1' ? text + ' (' + unit + ')' : text; }

function quantile(sorted, share) {
  if (!sorted.length) return NaN;
  const at = (sorted.length - 1) * share, low = Math.floor(at), high = Math.ceil(at);
  return sorted[low] + (sorted[high] - sorted[low]) * (at - low);
}
