// SPDX-License-Identifier: Apache-2.0
// Builds elements from text and nodes only, so that a name from a dataset never becomes markup.
function el(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on'))
      node.addEventListener(name.slice(2), value);
    else if (name === 'style')
      for (const [key, v] of Object.entries(value)) node.style.setProperty(key, v);
    else
      node.setAttribute(name, value === true ? '' : value);
  }
  append(node, children);
  return node;
}

function svg(tag, attributes, ...children) {
  const node = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes || {})) node.setAttribute(name, value);
  append(node, children);
  return node;
}

function append(node, children) {
  for (const child of children.flat(Infinity))
    if (child !== null && child !== undefined && child !== false) node.append(child);
}

function fill(node, ...children) {
  node.replaceChildren();
  append(node, children);
}

// A section of the page; `draw` runs on every change of the filters and returns its content.
function section(id, title, lead) {
  const tag = el('span', {class: 'tag'});
  const tools = el('span', {class: 'tools'});
  const body = el('div', {class: 'body'});
  const note = el('p', {}, lead);
  const node =
      el('section', {id, 'aria-labelledby': id + '-title'},
         el('header', {}, el('div', {}, el('h2', {id: id + '-title'}, title), tag, tools),
            lead ? note : null),
         body);
  return {node, tag, tools, note, body};
}
