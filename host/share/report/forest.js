// SPDX-License-Identifier: Apache-2.0
// Forest plot: every paired difference with its interval on one scale, one mark a pair.

// The scale follows the challengers; a reference far away points out of the plot instead of
// squeezing it.
function forestScale(pairs) {
  const reaches = list =>
      list.map(
              p => Math.max(
                  0, ...[p.relative, p.relative_lo, p.relative_hi].filter(isNumber).map(Math.abs)))
          .filter(Boolean)
          .sort((a, b) => a - b);
  const challengers = reaches(pairs.filter(p => !byLabel.get(p.contestant).reference));
  const reached = challengers.length ? challengers : reaches(pairs);
  // Among many pairs a few wide ones must not flatten the rest.
  const limit = (quantile(reached, reached.length > 8 ? 0.9 : 1) || 0.1) * 1.15;
  const step = niceStep(limit / 2.5);
  const end = Math.max(step, Math.ceil(limit / step) * step);
  return {end, step, at: share => (share + end) / (2 * end) * 100};
}

function niceStep(rough) {
  const power = Math.pow(10, Math.floor(Math.log10(rough)));
  const digit = rough / power;
  return (digit < 1.5 ? 1 : digit < 3.5 ? 2 : digit < 7.5 ? 5 : 10) * power;
}

function ticks(scale) {
  const values = [];
  for (let i = -Math.round(scale.end / scale.step); i <= Math.round(scale.end / scale.step); i++)
    values.push(i * scale.step);
  return values;
}

function mark(pair, scale, regrouped) {
  const at = percent => ({left: percent + '%'});
  if (!isNumber(pair.relative)) return el('span', {class: 'forest-mark absent', style: at(50)});
  if (Math.abs(pair.relative) <= scale.end)
    return el('span', {
      class: 'forest-mark' + (regrouped ? ' regrouped' : ''),
      style: at(scale.at(pair.relative))
    });
  const right = pair.relative > 0;
  return el('span', {
    class: 'forest-mark beyond ' + (right ? 'right' : 'left'),
    style: right ? {left: 'calc(100% - 8px)'} : {left: '8px'}
  });
}

function track(pair, scale, rope, regrouped) {
  const colours = byLabel.get(pair.contestant).colour;
  const clamp = share => Math.min(100, Math.max(0, scale.at(share)));
  const hasInterval = isNumber(pair.relative_lo) && isNumber(pair.relative_hi);
  const from = hasInterval ? clamp(pair.relative_lo) : 0,
        to = hasInterval ? clamp(pair.relative_hi) : 0;
  return el(
      'div', {class: 'track', style: {color: colours}},
      ticks(scale).map(t => el('span', {class: 'grid', style: {left: scale.at(t) + '%'}})),
      el('span', {
        class: 'rope',
        style: {left: clamp(-rope) + '%', width: clamp(rope) - clamp(-rope) + '%'}
      }),
      el('span', {class: 'zero', style: {left: scale.at(0) + '%'}}),
      hasInterval ? el('span', {class: 'span', style: {left: from + '%', width: to - from + '%'}}) :
                    null,
      mark(pair, scale, regrouped));
}

function forestRow(pair, scale, rope, regrouped) {
  const contestant = byLabel.get(pair.contestant);
  const undefinedShare = pair.rows && !isNumber(pair.relative) ?
      ' (the baseline\u2019s loss is 0: no relative change)' :
      '';
  const words = contestant.label + (regrouped ? ', duplicates kept together' : '') + ': ' +
      change(pair) + ', ' + pair.verdict;
  return el(
      'div', {
        class: 'forest-row' + (contestant.reference ? ' reference' : ''),
        role: 'listitem',
        'aria-label': words,
        title: words
      },
      el('span', {class: 'who'}, dot(contestant), el('span', {}, contestant.label)),
      track(pair, scale, rope, regrouped),
      el('span', {class: 'value num'}, change(pair) + undefinedShare),
      el('span', {class: 'verdict'}, chip(pair)));
}

function axisRow(scale) {
  const all = ticks(scale);
  const shown = all.filter((t, i) => all.length <= 7 || i % 2 === (all.length - 1) / 2 % 2);
  return el(
      'div', {class: 'forest-row forest-axis', 'aria-hidden': 'true'}, el('span', {class: 'who'}),
      el('div', {class: 'track'},
         shown.map(
             (t, i) =>
                 el('span', {
                   class:
                       'tick num' + (i === 0 || i + 1 === shown.length || t === 0 ? '' : ' minor'),
                   style: {
                     left: scale.at(t) + '%',
                     transform: i === 0         ? 'none' :
                         i + 1 === shown.length ? 'translateX(-100%)' :
                                                  'translateX(-50%)'
                   }
                 },
                    fixed(t * 100, scale.step * 100 < 1 ? 1 : 0, true) + ' %'))),
      el('span', {class: 'value'}), el('span', {class: 'verdict'}));
}

function sides() {
  return el(
      'div', {class: 'forest-row forest-axis', 'aria-hidden': 'true'}, el('span', {class: 'who'}),
      el('div', {class: 'forest-sides track'},
         el('span', {}, '\u2190 better than ' + comparison.baseline),
         el('span', {}, 'worse \u2192')),
      el('span', {class: 'value'}), el('span', {class: 'verdict'}));
}

function setUpForest(parent) {
  const part = section(
      'forest', 'Paired differences',
      'Relative change of the loss against the baseline, with its 95\u00a0% ' +
          'interval. The shaded band is the region of practical equivalence; a ' +
          'hollow mark ' +
          'is the result with near-duplicates kept on one side of the split; an ' +
          'arrow lies beyond the scale.');
  parent.append(part.node);
  onChange(() => {
    const shown = pair => state.on.has(byLabel.get(pair.contestant).index);
    const groups = shownViews()
                       .map(view => ({
                              view,
                              pairs: view.pairs.filter(shown),
                              regrouped: view.regrouped ? view.regrouped.pairs.filter(shown) : []
                            }))
                       .filter(g => g.pairs.length + g.regrouped.length);
    const scale = forestScale(groups.flatMap(g => [...g.pairs, ...g.regrouped]));
    part.tag.textContent = 'against ' + comparison.baseline;
    if (!groups.length) {
      fill(part.body, el('p', {class: 'empty'}, 'No pair is selected.'));
      return;
    }
    fill(
        part.body,
        el('div', {class: 'forest', role: 'list'}, sides(),
           groups.map(
               g =>
                   [el('div', {class: 'forest-group', role: 'presentation'}, g.view.task.task + ' ',
                       el('span', {class: 'faint'},
                          g.view.target.target + ', ' + lossName(g.view.target))),
                    g.pairs.map(p => forestRow(p, scale, g.view.task.rope, false)),
                    g.regrouped.length ?
                        el('div', {class: 'forest-group', role: 'presentation'},
                           el('span', {class: 'faint'}, 'with near-duplicates kept together')) :
                        null,
                    g.regrouped.map(p => forestRow(p, scale, g.view.task.rope, true))]),
           axisRow(scale)));
  });
}
