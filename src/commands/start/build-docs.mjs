// Makes the pages of docs/ into HTML, and the API description into a file, below dist/docs. Plain JavaScript like
// build.mjs, which runs it after the compiler; see docs/rules/documentation.md#build.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Marked } from 'marked';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const target = join(root, 'dist/docs');
/** Files that guides hand out as they are. */
const HANDED_OUT = ['docs/guide/shell.sh', 'docs/examples/custom-provider.mjs', 'docs/schema.sql'];
/** Pages for those who change the service itself. */
const LEFT_OUT = new Set(['docs/contributing.md', 'docs/providers-by-hand.md']);

const startedAt = performance.now();
const sources = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
  .map((name) => join('docs', name))
  .filter((name) => name.endsWith('.md') && !LEFT_OUT.has(name));
const known = new Map(sources.map((name) => [name, addressOf(name)]));
const pages = sources.map(pageOf).sort((a, b) => (a.path < b.path ? -1 : 1));
rmSync(target, { recursive: true, force: true });
mkdirSync(join(target, 'files'), { recursive: true });
for (const name of HANDED_OUT) copyFileSync(join(root, name), join(target, 'files', basename(name)));
writeFileSync(join(target, 'openapi.json'), await descriptionOfApi());
// The last file, so that a build that was broken off is done again.
writeFileSync(join(target, 'pages.json'), JSON.stringify(pages));
console.log(`built the docs: ${pages.length} pages (${((performance.now() - startedAt) / 1000).toFixed(1)} s)`);

/** `docs/guide/events.md` → `/docs/guide/events`, `docs/guide/README.md` → `/docs/guide`. */
function addressOf(name) {
  return `/${name.replace(/\.md$/, '').replace(/\/README$/, '')}`;
}

/** A page: its address, title, first paragraph as text, HTML without the title, and headings for the search. */
function pageOf(name) {
  const headings = [];
  const marked = new Marked({ gfm: true });
  let title;
  let lead;
  marked.use({
    renderer: {
      heading({ tokens, depth, text }) {
        const id = slug(text);
        const words = plain(this.parser.parseInline(tokens));
        if (depth === 1 && title === undefined) {
          title = words;
          return '';
        }
        headings.push([depth, id, words]);
        return `<h${depth} id="${id}"><a class="anchor" href="#${id}">${this.parser.parseInline(tokens)}</a></h${depth}>\n`;
      },
      paragraph({ tokens }) {
        const inner = this.parser.parseInline(tokens);
        lead ??= plain(inner).replace(/\s+/g, ' ').trim();
        return `<p>${inner}</p>\n`;
      },
      link({ href, tokens }) {
        const inner = this.parser.parseInline(tokens);
        const leads = linkOf(name, href);
        return leads === undefined ? inner : `<a href="${escaped(leads)}">${inner}</a>`;
      },
      // Examples run in a shell are copied, answers are read.
      code({ text, lang }) {
        const kind = /^\w+/.exec(lang ?? '')?.[0] ?? 'text';
        return `<pre tabindex="0" data-lang="${kind}"><code>${escaped(text)}\n</code></pre>\n`;
      },
      table({ header, rows }) {
        const cell = (tag, text) => `<${tag}>${text}</${tag.split(' ')[0]}>`;
        const cells = (row, tag) => row.map(({ tokens }) => cell(tag, this.parser.parseInline(tokens))).join('');
        // A column without a name has no header for those who hear the page.
        const heads = header.map(({ tokens, text }) =>
          text === '' ? cell('td', '') : cell('th scope="col"', this.parser.parseInline(tokens)),
        );
        const lines = rows.map((row) => `<tr${idOfRow(name, header, row)}>${cells(row, 'td')}</tr>`);
        const head = `<thead><tr>${heads.join('')}</tr></thead>`;
        return `<div class="wide" tabindex="0"><table>${head}<tbody>${lines.join('')}</tbody></table></div>\n`;
      },
      // Marks of the tables that tests rewrite.
      html: ({ text }) => (/^<!--/.test(text.trim()) ? '' : text),
    },
  });
  const html = marked.parse(readFileSync(join(root, name), 'utf8'));
  return { path: addressOf(name), title: title ?? name, lead: lead ?? '', html, headings };
}

/** Each code of docs/errors.md has a place of its own. */
function idOfRow(name, header, row) {
  const at = header.findIndex(({ text }) => text === 'Code');
  const code = name === 'docs/errors.md' && at >= 0 && /^`([\w-]+)`$/.exec(row[at].text)?.[1];
  return code ? ` id="${code}"` : '';
}

/** Where a link leads from a page that is served; undefined for files that only the repository has. */
function linkOf(file, href) {
  if (/^[a-z]+:/.test(href)) return href;
  const [path, anchor] = href.split('#');
  const hash = anchor === undefined ? '' : `#${anchor}`;
  if (path === '') return hash;
  const meant = relative(root, resolve(root, dirname(file), path));
  const page = known.get(meant) ?? known.get(join(meant, 'README.md'));
  if (page !== undefined) return page + hash;
  if (HANDED_OUT.includes(meant)) return `/docs/files/${basename(meant)}`;
  return undefined;
}

/** As readers of Markdown make anchors; test/docs.test.ts holds that none stands twice. */
function slug(heading) {
  return heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

function plain(html) {
  const signs = { lt: '<', gt: '>', quot: '"', amp: '&', '#39': "'" };
  return html.replace(/<[^>]+>/g, '').replace(/&(lt|gt|quot|amp|#39);/g, (_, name) => signs[name]);
}

/** Made here, because it takes a second of processor time that no reader should wait for. */
async function descriptionOfApi() {
  const from = (file) => import(pathToFileURL(join(root, 'dist/src', file)).href);
  const [{ operations }, { openApiDocument }, { withNamedParts }] = await Promise.all([
    from('operations.js'),
    from('ingress/openapi.js'),
    from('ingress/openapi-components.js'),
  ]);
  return JSON.stringify(withNamedParts(openApiDocument(operations, { url: '', version: '' })));
}
