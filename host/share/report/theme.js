// SPDX-License-Identifier: Apache-2.0
// Light or dark: what the system prefers until the reader decides otherwise.
const systemDark = window.matchMedia('(prefers-color-scheme: dark)');

function isDark() {
  const own = document.documentElement.dataset.theme;
  return own ? own === 'dark' : systemDark.matches;
}

function setUpTheme() {
  const button = document.getElementById('theme');
  const label = () => {
    button.textContent = isDark() ? 'Light' : 'Dark';
  };
  // Storage may be closed to files that are opened from disk.
  try {
    const kept = localStorage.getItem('omen-theme');
    if (kept === 'dark' || kept === 'light') document.documentElement.dataset.theme = kept;
  } catch (ignored) { /* the choice lasts as long as the page */
  }
  button.addEventListener('click', () => {
    const next = isDark() ? 'light' : 'dark';
    document.documentElement.dataset.theme = next;
    try {
      localStorage.setItem('omen-theme', next);
    } catch (ignored) { /* as above */
    }
    label();
    drawCharts();
  });
  systemDark.addEventListener('change', () => {
    label();
    drawCharts();
  });
  label();
}

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
}
