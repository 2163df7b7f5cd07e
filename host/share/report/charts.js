// SPDX-License-Identifier: Apache-2.0
// Draws Plotly figures in the colours of the page and again when theme, width or filters change.
const charts = [];
const redrawOnResize = [];

// Plotly reads a few tags in its texts; escaped names stay names.
function plain(text) {
  return String(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function axisStyle(own) {
  return Object.assign(
      {
        type: 'linear',
        gridcolor: colour('line'),
        zerolinecolor: colour('line'),
        linecolor: colour('line'),
        automargin: true,
        zeroline: false,
        tickfont: {color: colour('faint'), size: 12}
      },
      own, {
        title: own && own.title ?
            {text: own.title, font: {size: 12.5, color: colour('soft')}, standoff: 10} :
            undefined
      });
}

function layoutStyle(own) {
  return Object.assign(
      {
        paper_bgcolor: 'rgba(0,0,0,0)',
        plot_bgcolor: 'rgba(0,0,0,0)',
        showlegend: false,
        margin: {l: 52, r: 10, t: 10, b: 44},
        autosize: true,
        font: {
          family: 'system-ui, -apple-system, "Segoe UI", Roboto, Arial, sans-serif',
          size: 12.5,
          color: colour('ink')
        },
        hoverlabel: {
          bgcolor: colour('card'),
          bordercolor: colour('line'),
          font: {color: colour('ink'), size: 12.5},
          align: 'left'
        },
        hovermode: 'closest',
        modebar: {bgcolor: 'rgba(0,0,0,0)', color: colour('faint'), activecolor: colour('ink')}
      },
      own);
}

// `make` returns {data, layout, height}, or a sentence that says why there is nothing to draw.
function addChart(part, make) {
  const node =
      el('div',
         {class: 'chart', role: 'img', 'aria-label': part.node.querySelector('h2').textContent});
  part.body.append(node);
  const chart = {
    draw() {
      if (part.node.hidden) return;
      const figure = make(Math.max(280, node.clientWidth || part.body.clientWidth));
      if (typeof figure === 'string' || !window.Plotly) {
        if (window.Plotly) Plotly.purge(node);
        node.style.minHeight = '0';
        fill(
            node,
            el('p', {class: 'empty'},
               typeof figure === 'string' ?
                   figure :
                   'This chart needs Plotly.js, which was not installed where the report ' +
                       'was written.'));
        return;
      }
      node.querySelector('.empty')?.remove();
      node.style.minHeight = '';
      figure.layout.height = figure.height || 360;
      Plotly.react(node, figure.data, figure.layout, {
        responsive: true,
        displaylogo: false,
        modeBarButtonsToRemove: ['select2d', 'lasso2d', 'autoScale2d']
      });
    }
  };
  charts.push(chart);
  return chart;
}

function drawCharts() {
  charts.forEach(chart => chart.draw());
  redrawOnResize.forEach(draw => draw());
}

const hasWebGl = (() => {
  try {
    return Boolean(document.createElement('canvas').getContext('webgl'));
  } catch (ignored) {
    return false;
  }
})();

// Evenly spaced members where there are more than `most`.
function thinned(rows, most) {
  if (rows.length <= most) return rows;
  return Array.from({length: most}, (_, i) => rows[Math.floor(i * rows.length / most)]);
}

function rowLabel(table, i) {
  return plain(table.names[i] || 'workload ' + table.ids[i]) + '<br>' +
      plain(table.groups[table.group[i]]);
}
