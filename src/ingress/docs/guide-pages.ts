import { type Html, html } from '../../platform/html.ts';
import type { BuiltPage } from './built.ts';
import { DOCS_PATH, pageOf, REFERENCE_PATH, type Site } from './frame.ts';
import { groupedTags, titleOf } from './tags.ts';

const GUIDE = `${DOCS_PATH}/guide`;

/** The guides in the order of their index, and behind it what it does not name. */
export function guidesOf(pages: ReadonlyMap<string, BuiltPage>): BuiltPage[] {
  const order = [...(pages.get(GUIDE)?.html ?? '').matchAll(/href="(\/docs\/guide\/[\w-]+)/g)].map(([, path]) => path!);
  const all = [...pages.keys()].filter((path) => path.startsWith(`${GUIDE}/`));
  return [...new Set([...order, ...all])].flatMap((path) => pages.get(path) ?? []);
}

/** A page of docs/; a guide leads to the one before and behind it. */
export function writtenPage(site: Site, page: BuiltPage): string {
  const at = site.guides.findIndex(({ path }) => path === page.path);
  const turn = (to: BuiltPage | undefined, word: string) =>
    to === undefined ? html`<span></span>` : html`<a href="${to.path}">${word}: ${to.title}</a>`;
  const ending =
    at < 0
      ? ''
      : html`<nav class="turn" aria-label="Guides before and behind">${turn(site.guides[at - 1], 'Before')}${turn(site.guides[at + 1], 'Next')}</nav>`;
  const contents = page.headings.filter(([level]) => level === 2).map(([, id, text]) => [id, text] as const);
  const runs = page.path.startsWith(`${GUIDE}/`) && page.html.includes(SHELL_LINE);
  return pageOf(site, { ...page, contents, body: html`${runs && RUN_NOTE}${{ html: page.html }}${ending}` });
}

/** The line with which the examples of a guide begin. */
const SHELL_LINE = '. docs/guide/shell.sh';

/** Above a guide with examples: a reader who comes from a search does not know what they need. */
const RUN_NOTE = html`<details class="note"><summary>To run the examples of this page</summary>
<p>In the folder of the service, while it runs, make a sandbox of their own and set <code>KEY</code> to the key that is
printed. <code>shell.sh</code> defines <code>get</code>, <code>post</code> and the like, each of which is one
<code>curl</code>. Where the service is not at port 3000, set <code>API</code> to what its start printed.</p>
<pre tabindex="0"><code>npm run org -- create --name Guide --sandbox
KEY=...
. docs/guide/shell.sh</code></pre></details>`;

/** What a browser gets for an address that names no page. */
export const missingPage = (site: Site): string =>
  pageOf(site, {
    path: '',
    title: 'There is no such page',
    body: html`<p>The address names no page of the documentation. Search above, choose a page from the contents, or begin
at the <a href="${DOCS_PATH}">front page</a>.</p>`,
  });

/** The front page: where to begin, the guides, the groups of the reference. */
export function frontPage(site: Site): string {
  const card = (to: string, title: string, text: string): Html =>
    html`<li><a href="${to}">${title}<span>${text}</span></a></li>`;
  const body = html`<p class="lead">Meterstone meters what your customers use, prices it, invoices it and collects the money.
These pages say how; every example on them runs in a test.</p>
<p><a class="begin" href="${GUIDE}/first-invoice">Your first invoice in ten minutes</a></p>
<h2 id="guides">Guides</h2>
<ul class="cards">${site.guides.map(({ path, title, lead }) => card(path, title, shortened(lead)))}</ul>
<h2 id="reference">API reference</h2>
<ul class="cards">${groupedTags(site.tags).map(([group, tags]) =>
    card(
      tags.length === 1 ? `${REFERENCE_PATH}/${tags[0]}` : `${REFERENCE_PATH}#${group.toLowerCase()}`,
      group,
      tags.map(titleOf).join(', '),
    ),
  )}</ul>
<h2 id="more">Beside them</h2>
<ul class="cards">${[
    card(`${DOCS_PATH}/errors`, 'Error codes', 'What each means and what to do'),
    card(`${REFERENCE_PATH}/event_types`, 'Event types', 'What webhooks and the feed tell, and when'),
    card(`${DOCS_PATH}/try`, 'Try it', 'Send requests from this page with your key'),
    card(`${DOCS_PATH}/operations`, 'Running the service', 'Processes, scaling, backup, upgrade, settings'),
    card(`${DOCS_PATH}/rules`, 'Exact rules', 'Each rule with its worked cases'),
    card('/openapi.json', 'openapi.json', 'The API as OpenAPI 3.1, for generators'),
  ]}</ul>`;
  const contents = [
    ['guides', 'Guides'],
    ['reference', 'API reference'],
    ['more', 'Beside them'],
  ] as const;
  return pageOf(site, { path: DOCS_PATH, title: 'Documentation', contents, body });
}

const SHORT = 110;
/** The first sentence, cut between words. */
function shortened(text: string): string {
  const [sentence = ''] = text.split(/(?<=[.:;]) /);
  if (sentence.length <= SHORT) return sentence.replace(/[:;]$/, '.');
  return `${sentence.slice(0, SHORT).replace(/\s+\S*$/, '')} …`;
}
