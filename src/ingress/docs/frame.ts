import { type Html, html } from '../../platform/html.ts';
import type { BuiltPage } from './built.ts';
import { groupedTags, titleOf } from './tags.ts';

export const DOCS_PATH = '/docs';
export const REFERENCE_PATH = `${DOCS_PATH}/api`;

/** What every page knows: the parts of the navigation, and the names of the style and the script. */
export interface Site {
  guides: readonly BuiltPage[];
  tags: readonly string[];
  style: string;
  script: string;
  console: boolean;
  /** Address of the API, which the samples call. */
  api: string;
}

interface Page {
  path: string;
  title: string;
  /** Sections of the page for "On this page". */
  contents?: readonly (readonly [id: string, text: string])[];
  body: Html;
  /** Whether the page needs the width of its list of contents. */
  isWide?: boolean;
}

const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24' fill='%232456c9'%3E%3Crect x='3' y='13' width='4' height='8' rx='1'/%3E%3Crect x='10' y='8' width='4' height='13' rx='1'/%3E%3Crect x='17' y='3' width='4' height='18' rx='1'/%3E%3C/svg%3E";

/** A whole page of the documentation. Rule: documentation.md#pages. */
export function pageOf(site: Site, { path, title, contents = [], body, isWide }: Page): string {
  const { console: hasConsole, style, script } = site;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Meterstone</title>
<link rel="icon" href="${ICON}">
<link rel="stylesheet" href="${style}">
<script src="${script}" defer></script>
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header class="top">
<a class="brand" href="${DOCS_PATH}"><svg viewBox="0 0 24 24" aria-hidden="true"><rect x="3" y="13" width="4" height="8" rx="1"/><rect x="10" y="8" width="4" height="13" rx="1"/><rect x="17" y="3" width="4" height="18" rx="1"/></svg>Meterstone <span>docs</span></a>
<form class="search" role="search" action="${DOCS_PATH}" hidden><label class="hidden" for="q">Search the documentation</label><input id="q" type="search" autocomplete="off" placeholder="Search guides, operations, codes" aria-keyshortcuts="/" role="combobox" aria-expanded="false" aria-controls="found"><ul id="found" role="listbox" aria-label="Results" hidden></ul></form>
<nav class="links" aria-label="Parts">
<a class="to-menu" href="#menu">Contents</a>
<a href="${DOCS_PATH}/guide"${current(path.startsWith(`${DOCS_PATH}/guide`))}>Guides</a>
<a href="${REFERENCE_PATH}"${current(path.startsWith(REFERENCE_PATH))}>API</a>
<a href="${DOCS_PATH}/errors"${current(path === `${DOCS_PATH}/errors`)}>Errors</a>
${hasConsole ? html`<a href="/console">Console</a>` : ''}
<button type="button" id="theme" hidden>Light or dark</button>
</nav>
</header>
<div class="columns${isWide ? ' wide-page' : ''}">
${menuOf(site, path)}
<main id="main" tabindex="-1"><h1>${title}</h1>
${body}</main>
${
  contents.length > 1 && !isWide
    ? html`<aside class="here" aria-label="On this page"><p>On this page</p><ul>${contents.map(
        ([id, text]) => html`<li><a href="#${id}">${text}</a></li>`,
      )}</ul></aside>`
    : ''
}
</div>
</body>
</html>
`.html;
}

function menuOf({ guides, tags }: Site, path: string): Html {
  const link = (to: string, text: string) => html`<li><a href="${to}"${current(path === to)}>${text}</a></li>`;
  const isReference = path.startsWith(REFERENCE_PATH);
  const isOpen = (group: readonly string[]) => group.some((tag) => path === `${REFERENCE_PATH}/${tag}`);
  return html`<nav class="side" id="menu" aria-label="Contents">
<details${isReference ? '' : html` open`}><summary>Guides</summary><ul>${guides.map((page) => link(page.path, page.title))}</ul></details>
<details${isReference ? html` open` : ''}><summary>API reference</summary>
<ul>${link(REFERENCE_PATH, 'All operations')}${link(`${REFERENCE_PATH}/event_types`, 'Event types of webhooks')}${link(`${DOCS_PATH}/try`, 'Try it')}</ul>
${groupedTags(tags).map(
  ([group, all]) =>
    html`<details${isOpen(all) ? html` open` : ''}><summary>${group}</summary><ul>${all.map((tag) =>
      link(`${REFERENCE_PATH}/${tag}`, titleOf(tag)),
    )}</ul></details>`,
)}</details>
<details${OTHER_PAGES.some(([to]) => to === path) ? html` open` : ''}><summary>More</summary><ul>${OTHER_PAGES.map(([to, text]) => link(to, text))}</ul></details>
</nav>`;
}

const OTHER_PAGES = [
  [`${DOCS_PATH}/errors`, 'Error codes'],
  [`${DOCS_PATH}/operations`, 'Running the service'],
  [`${DOCS_PATH}/glossary`, 'Glossary'],
  [`${DOCS_PATH}/rules`, 'Exact rules'],
  [`${DOCS_PATH}/architecture`, 'Architecture'],
] as const;

const current = (is: boolean): Html => (is ? html` aria-current="page"` : html``);
