// SPDX-License-Identifier: Apache-2.0
// Near-duplicates across train and test: the result as split, and with duplicates kept together.
function setUpDuplicates(parent) {
  if (!comparison.tasks.some(t => t.leaking_rows)) return;
  const part = section(
      'duplicates', 'Near-duplicates',
      'Test rows whose features also occur in training make a predictor look ' +
          'better than it is. Beside the result as split stands the one with ' +
          'duplicates on one side.');
  parent.append(part.node);
  const row = (view, result) => {
    const contestant = byLabel.get(result.contestant), unit = view.target.loss_unit;
    const other = view.regrouped &&
        view.regrouped.target.results.find(r => r.contestant === result.contestant);
    const verdict = v => {
      const pair = v && v.pairs.find(p => p.contestant === result.contestant);
      return pair ? chip(pair) : '';
    };
    return el(
        'tr', {class: contestant.reference ? 'reference' : null}, el('td', {}, who(contestant)),
        el('td', {class: 'right'}, quantity(typicalLoss(view, result), unit)),
        el('td', {}, verdict(view)),
        el('td', {class: 'right'}, other ? quantity(typicalLoss(view, other), unit) : '\u2013'),
        el('td', {}, verdict(view.regrouped)));
  };
  const headings = view =>
      [{text: ''}, {text: (usesMean(view) ? 'mean' : 'median') + ' loss, as split', right: true},
       {text: ''}, {text: 'duplicates together', right: true}, {text: ''}];
  onChange(() => {
    const view = detailView();
    part.node.hidden = !view.task.leaking_rows;
    part.tag.textContent = title(view);
    if (part.node.hidden) return;
    const results = view.target.results.filter(r => state.on.has(byLabel.get(r.contestant).index));
    fill(
        part.body, callout(extra.notes[view.taskIndex].leak + '.'),
        tableOf(headings(view), results.map(r => row(view, r))));
  });
}
