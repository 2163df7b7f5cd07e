// SPDX-License-Identifier: Apache-2.0
// The answer first: a headline, one card a challenger, and the table of results.
const VERDICTS = ['BETTER', 'EQUIVALENT', 'INCONCLUSIVE', 'WORSE'];

function challengers() { return contestants.filter(c => !c.baseline && !c.reference); }

function pairsOf(contestant) {
  return views.map(v => v.pairs.find(p => p.contestant === contestant.label)).filter(Boolean);
}

// "better than B", "not clearly different from B", ... for one pair.
function verdictWords(pair) {
  const base = comparison.baseline;
  if (!pair.rows) return 'has no answers to compare with ' + base;
  switch (pair.verdict) {
    case 'BETTER':
      return 'is better than ' + base;
    case 'WORSE':
      return 'is worse than ' + base;
    case 'EQUIVALENT':
      return 'is equivalent to ' + base;
    case 'INCONCLUSIVE':
      return 'cannot be told apart from ' + base;
    default:
      return 'differs from ' + base + '; too few groups to judge';
  }
}

function verdictCount(contestant, verdict) {
  return pairsOf(contestant).filter(p => p.verdict === verdict).length;
}

// The same over several targets, with what speaks against it.
function tallyWords(contestant) {
  const better = verdictCount(contestant, 'BETTER'), worse = verdictCount(contestant, 'WORSE');
  const base = comparison.baseline, all = ' of ' + plural(views.length, 'target');
  if (better)
    return 'is better than ' + base + ' on ' + better + (worse ? ' and worse on ' + worse : '') +
        all;
  if (worse) return 'is worse than ' + base + ' on ' + worse + all;
  return verdictCount(contestant, 'EQUIVALENT') === views.length ?
      'is equivalent to ' + base + ' on all ' + plural(views.length, 'target') :
      'cannot be told apart from ' + base + ' on any' + all;
}

function headline() {
  const own = challengers();
  if (!own.length) return comparison.baseline + ' against the references';
  const score = c => verdictCount(c, 'BETTER') - verdictCount(c, 'WORSE');
  const best = own.slice().sort((a, b) => score(b) - score(a))[0];
  if (own.length > 1 && !verdictCount(best, 'BETTER'))
    return 'No challenger is clearly better than ' + comparison.baseline;
  return best.label + ' ' +
      (views.length === 1 ? verdictWords(pairsOf(best)[0]) : tallyWords(best));
}

function lead() {
  const own = challengers();
  if (own.length !== 1 || views.length !== 1) return null;
  const pair = pairsOf(own[0])[0], view = views[0];
  if (!pair.rows) return null;
  return 'Predicting ' + view.target.target + ' for ' + plural(pair.rows, 'workload') + ' in ' +
      plural(pair.groups, 'group') + ', its typical ' + lossName(view.target) + ' is ' +
      quantity(pair.loss, pair.loss_unit) + ' against ' +
      quantity(pair.baseline_loss, pair.loss_unit) + ': a paired change of ' + change(pair) +
      ' at 95\u00a0% confidence.';
}

function tally(pairs) {
  const parts =
      VERDICTS.map(v => ({v, n: pairs.filter(p => p.verdict === v).length})).filter(p => p.n);
  const colours = {
    BETTER: 'var(--good)',
    EQUIVALENT: 'var(--same)',
    INCONCLUSIVE: 'var(--line)',
    WORSE: 'var(--bad)'
  };
  return el(
      'div', {},
      el('div', {class: 'tally', 'aria-hidden': 'true'},
         parts.map(p => el('i', {style: {flex: String(p.n), background: colours[p.v]}}))),
      el('p', {class: 'small', style: {'margin-top': '8px'}},
         parts.map(p => p.n + ' ' + p.v.toLowerCase()).join(', ') || 'differences only'));
}

const FEW_PAIRS = 6;
function verdictLine(pair) {
  const where = comparison.tasks.length > 1 ? pair.task +
          (views.some(v => v.task.task === pair.task && v.target.target !== pair.target) ?
               ' \u00b7 ' + pair.target :
               '') :
                                              pair.target;
  return el(
      'div', {}, el('span', {title: pair.task + ' \u00b7 ' + pair.target}, where),
      el('span', {class: 'num faint'}, pair.rows ? relative(pair.relative) : '\u2013'), chip(pair));
}

function challengerCard(contestant) {
  const pairs = pairsOf(contestant);
  const result = views[0].target.results.find(r => r.contestant === contestant.label);
  const missing = views.reduce((sum, v) => {
    const coverage = v.target.results.find(r => r.contestant === contestant.label).coverage;
    return sum + coverage.workloads - coverage.answered;
  }, 0);
  const gap = missing ? el('p', {class: 'small'}, plural(missing, 'answer') + ' missing') : null;
  const name = el('div', {class: 'who'}, dot(contestant), el('span', {}, contestant.label));
  if (pairs.length > 1)
    return el(
        'div', {class: 'card'}, name, tally(pairs),
        pairs.length <= FEW_PAIRS ? el('div', {class: 'verdicts'}, pairs.map(verdictLine)) : null,
        gap);
  const pair = pairs[0];
  return el(
      'div', {class: 'card'},
      el('div', {class: 'who'}, dot(contestant), el('span', {}, contestant.label), chip(pair)),
      el('div', {class: 'big num'}, pair.rows ? relative(pair.relative) : '\u2013',
         pair.rows && isNumber(pair.relative_lo) ?
             el('span', {class: 'range'},
                '[' + relative(pair.relative_lo) + ', ' + relative(pair.relative_hi) + ']') :
             null),
      el('p', {class: 'small num'},
         pair.rows ?
             'change of the ' + lossName(views[0].target) + ' against ' + comparison.baseline :
             'no paired workloads'),
      el('p', {class: 'small num'},
         result.coverage.answered + ' of ' + plural(result.coverage.workloads, 'workload') +
             ' answered, ' + pair.wins + ' won, ' + pair.ties + ' tied, ' + pair.losses + ' lost'));
}

function drawSummary() {
  const facts = [
    comparison.time.replace('T', ' ').replace('Z', ' UTC'), 'run ' + comparison.id,
    plural(comparison.tasks.length, 'task'),
    plural(comparison.tasks.reduce((n, t) => n + t.workloads, 0), 'workload'),
    'seed ' + comparison.seed, duration(comparison.seconds)
  ];
  const warnings = [extra.mode, ...comparison.warnings].filter(Boolean);
  fill(
      document.getElementById('summary'),
      el('div', {class: 'hero'}, el('h1', {}, headline()),
         lead() ? el('p', {class: 'lead'}, lead()) : null,
         el('div', {class: 'facts'}, facts.filter(Boolean).map(f => el('span', {}, f)))),
      el('div', {class: 'callouts'}, warnings.map(w => callout(w)),
         extra.notes.flatMap(n => n.leak ? [callout(n.leak + '.')] : []),
         extra.notes.flatMap(n => n.jobs.map(j => callout(j, true)))),
      el('div', {class: 'cards'}, challengers().map(challengerCard),
         views.length === 1 ? lossCard() : null));
}

// The typical loss of everyone, so that the change has a size to be held against.
function lossCard() {
  const results = views[0].target.results, unit = views[0].target.loss_unit;
  const most = Math.max(0, ...results.map(r => typicalLoss(views[0], r)).filter(isNumber));
  return el(
      'div', {class: 'card'},
      el('div', {class: 'who'},
         el('span', {}, (usesMean(views[0]) ? 'Mean ' : 'Median ') + lossName(views[0].target))),
      el('div', {class: 'bars'}, results.map(r => {
        const c = byLabel.get(r.contestant), loss = typicalLoss(views[0], r),
              share = isNumber(loss) && most > 0 ? loss / most * 100 : 0;
        return el(
            'div', {class: c.reference ? 'reference' : null},
            el('span', {class: 'name', title: c.label}, c.label),
            el('span', {class: 'bar', 'aria-hidden': 'true'},
               el('i', {style: {width: share + '%', background: c.colour}})),
            el('span', {class: 'num'}, quantity(loss, unit)));
      })));
}

function resultRow(view, result) {
  const contestant = byLabel.get(result.contestant);
  const pair = view.pairs.find(p => p.contestant === result.contestant);
  const coverage = result.coverage.answered + '/' + result.coverage.workloads;
  const paired = pair && pair.rows;
  return el(
      'tr', {class: contestant.reference ? 'reference' : null}, el('td', {}, who(contestant)),
      el('td', {class: 'right'}, coverage),
      el('td', {class: 'right'}, quantity(result.median_loss, view.target.loss_unit)),
      el('td', {class: 'right'}, quantity(result.mean_loss, view.target.loss_unit)),
      el('td', {class: 'num'}, pair ? change(pair) : 'baseline'),
      el('td', {class: 'num'}, paired ? pair.wins + ' / ' + pair.ties + ' / ' + pair.losses : ''),
      el('td', {class: 'right'}, paired ? probability(pair.p_holm) : ''),
      el('td', {}, pair ? chip(pair) : ''));
}

function resultTable(view) {
  const headings = [
    {text: ''}, {text: 'coverage', right: true}, {text: 'median', right: true},
    {text: 'mean', right: true}, {text: 'paired change [95\u00a0% CI]'},
    {text: 'wins / ties / losses'}, {text: 'p (Holm)', right: true}, {text: 'verdict'}
  ];
  return tableOf(
      headings,
      view.target.results.filter(r => state.on.has(byLabel.get(r.contestant).index))
          .map(r => resultRow(view, r)));
}

function setUpResults(parent) {
  const part = section(
      'results-table', 'Results',
      'Losses are paired by workload. A change below zero is an improvement; ' +
          'p values are Holm-adjusted over all pairs of this comparison.');
  parent.append(part.node);
  onChange(() => {
    const view = detailView();
    part.tag.textContent = title(view) + ', ' + lossName(view.target);
    fill(part.body, resultTable(view), notesList(view.notes));
  });
}

function metricName(name) {
  const words = {
    mae: 'MAE',
    rmse: 'RMSE',
    mape: 'MAPE',
    median_ape: 'median APE',
    r2: 'R\u00b2',
    spearman: 'Spearman \u03c1',
    kendall: 'Kendall \u03c4',
    f1_macro: 'F1 (macro)',
    f1_weighted: 'F1 (weighted)',
    top1: 'top-1',
    share_within_5: 'within 5 %',
    share_within_10: 'within 10 %'
  };
  return words[name] || name.replaceAll('_', ' ');
}

function setUpMetrics(parent) {
  const part = section(
      'metrics', 'Metrics',
      'Every metric over the rows each contestant answered; the best of those shown is bold.');
  parent.append(part.node);
  onChange(() => {
    const view = detailView();
    const results = view.target.results.filter(r => state.on.has(byLabel.get(r.contestant).index));
    const names = [...new Set(results.flatMap(r => r.metrics.map(m => m.name)))];
    part.tag.textContent = title(view);
    part.node.hidden = !names.length;
    const columns = names.map(name => results.map(r => r.metrics.find(m => m.name === name)));
    const best = columns.map(column => {
      const values = column.filter(m => m && isNumber(m.value));
      // Neither more coverage nor narrower intervals are better for themselves.
      if (values.length < 2 || ['coverage', 'width'].includes(values[0].name)) return null;
      const pick = values[0].lower_is_better ? Math.min : Math.max;
      return pick(...values.map(m => m.value));
    });
    fill(
        part.body,
        tableOf(
            [
              {text: ''},
              ...names.map((n, m) => ({
                             text: withUnit(metricName(n), (columns[m].find(Boolean) || {}).unit),
                             right: true
                           }))
            ],
            results.map(
                (r, i) =>
                    el('tr', {class: byLabel.get(r.contestant).reference ? 'reference' : null},
                       el('td', {}, who(byLabel.get(r.contestant))),
                       columns.map(
                           (column, m) =>
                               el('td', {
                                 class: 'right' +
                                     (column[i] && column[i].value === best[m] ? ' best' : '')
                               },
                                  column[i] ? number(column[i].value) : '\u2013'))))));
  });
}
