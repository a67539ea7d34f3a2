import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { type Express, default as express, type Request, type Response } from 'express';
import { type BuiltPage, builtDescription, builtPages, FILES_FOLDER } from './built.ts';
import type { Description } from './description.ts';
import { DOCS_PATH, REFERENCE_PATH, type Site } from './frame.ts';
import { frontPage, guidesOf, missingPage, writtenPage } from './guide-pages.ts';
import { eventTypesPage, operationsPage, tagPage } from './reference.ts';
import { SCRIPT } from './script.ts';
import { searchEntries } from './search-entries.ts';
import { STYLE } from './style.ts';
import { TRY_PAGE, TRY_SCRIPT, tryPolicy } from './try-page.ts';

interface Docs {
  /** The API description of the operations that are served; used where the build left none. */
  makeDescription: () => object;
  /** Address of the API and version of the service. */
  facts: { url: string; version: string };
  /** The same address with scheme and host, for samples. */
  api: string;
  /** A text about the interface in the names that the deployment uses. */
  inWire: (text: string) => string;
  /** Scheme and host that the page for trying may call beside its own. */
  apiOrigin?: string | undefined;
  hasConsole: boolean;
}

interface Packed {
  type: string;
  etag: string;
  plain: Buffer;
  gzip: Buffer;
  br: Buffer;
}

const HTML = 'text/html; charset=utf-8';
const JSON_TYPE = 'application/json; charset=utf-8';
const FOR_EVER = 'public, max-age=31536000, immutable';
/** Brotli's best costs half a second for the API description; this quality 20 ms, and 5 % more bytes. */
const BROTLI_QUALITY = 5;

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

const hashed = (text: string): string => createHash('sha256').update(text).digest('base64url').slice(0, 12);
const STYLE_PATH = `${DOCS_PATH}/docs-${hashed(STYLE)}.css`;
const SCRIPT_PATH = `${DOCS_PATH}/docs-${hashed(SCRIPT)}.js`;

/**
 * The documentation: guides and reference as pages that need no script and load nothing from elsewhere, the API
 * description, and a page to try it. Each is made at its first call and then kept, packed, by the process: their number
 * is fixed. Rule: documentation.md.
 */
export function mountDocs(app: Express, docs: Docs): void {
  const kept = new Map<string, Packed>();
  const keep = (name: string, type: string, make: () => string): Packed => {
    const known = kept.get(name);
    if (known) return known;
    const packed = packedOf(type, make());
    kept.set(name, packed);
    return packed;
  };
  const content = once(() => contentOf(docs));
  const page =
    (path: string, make: (content: Content) => string | undefined) =>
    (request: Request, response: Response, next: () => void) => {
      const known = kept.get(path) ?? whole(make(content()));
      if (!known) return next();
      kept.set(path, known);
      response.setHeader('Content-Security-Policy', POLICY);
      send(request, response, known);
    };

  app.get('/openapi.json', (request, response) =>
    send(
      request,
      response,
      keep('openapi', JSON_TYPE, () => JSON.stringify(content().description)),
    ),
  );
  app.get(
    DOCS_PATH,
    page(DOCS_PATH, ({ site }) => frontPage(site)),
  );
  app.get(`${DOCS_PATH}/search.json`, (request, response) =>
    send(
      request,
      response,
      keep('search', JSON_TYPE, () => JSON.stringify(searchEntries(found(content()), content().description))),
    ),
  );
  for (const [path, type, text] of [
    [STYLE_PATH, 'text/css; charset=utf-8', STYLE],
    [SCRIPT_PATH, 'text/javascript; charset=utf-8', SCRIPT],
  ] as const)
    app.get(path, (request, response) =>
      send(
        request,
        response,
        keep(path, type, () => text),
        FOR_EVER,
      ),
    );
  app.get(
    REFERENCE_PATH,
    page(REFERENCE_PATH, ({ site, description }) => operationsPage(site, description)),
  );
  app.get(
    `${REFERENCE_PATH}/event_types`,
    page(`${REFERENCE_PATH}/event_types`, ({ site, description }) => eventTypesPage(site, description)),
  );
  app.get(`${REFERENCE_PATH}/:tag`, (request, response, next) => {
    const { tag } = request.params;
    page(`${REFERENCE_PATH}/${tag}`, ({ site, description }) => tagPage(site, description, tag))(
      request,
      response,
      next,
    );
  });
  app.get(`${DOCS_PATH}/try`, (_request, response) => {
    response.setHeader('Content-Security-Policy', tryPolicy(docs.apiOrigin));
    response.type('html').send(TRY_PAGE);
  });
  app.get(`${DOCS_PATH}/try.js`, (_request, response) => {
    response.type('js').send(TRY_SCRIPT);
  });
  const assets = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  app.use(`${DOCS_PATH}/assets`, express.static(assets, { index: false }));
  app.use(`${DOCS_PATH}/files`, express.static(FILES_FOLDER, { index: false, setHeaders: asText }));
  app.get(`${DOCS_PATH}/*rest`, (request, response, next) => {
    const path = request.path.replace(/\/$/, '');
    page(path, ({ site, pages }) => {
      const written = pages.get(path);
      return written && writtenPage(site, written);
    })(request, response, () => {
      if (request.accepts(['json', 'html']) !== 'html') return next();
      response.status(404).setHeader('Content-Security-Policy', POLICY);
      const missing = () => missingPage(content().site);
      send(request, response, keep('missing', HTML, missing));
    });
  });
}

interface Content {
  description: Description;
  pages: ReadonlyMap<string, BuiltPage>;
  site: Site;
}

function contentOf({ makeDescription, facts, api, inWire, hasConsole }: Docs): Content {
  const made = (builtDescription() ?? makeDescription()) as Description;
  const named = { ...made, info: { ...made.info, version: facts.version }, servers: [{ url: facts.url }] };
  const description = JSON.parse(inWire(JSON.stringify(named))) as Description;
  const pages = new Map([...builtPages()].map(([path, built]) => [path, { ...built, html: inWire(built.html) }]));
  const tags = description.tags.map(({ name }) => name);
  const guides = guidesOf(pages);
  const site = { guides, tags, style: STYLE_PATH, script: SCRIPT_PATH, console: hasConsole, api };
  return { description, pages, site };
}

/** Pages that the search names: those for users, and the rules. */
const found = ({ pages }: Content): BuiltPage[] =>
  [...pages.values()].filter(({ path }) => !path.startsWith(`${DOCS_PATH}/decisions`));

function once<Value>(make: () => Value): () => Value {
  let value: Value | undefined;
  return () => (value ??= make());
}

const whole = (text: string | undefined): Packed | undefined => (text === undefined ? undefined : packedOf(HTML, text));

function packedOf(type: string, text: string): Packed {
  const plain = Buffer.from(text);
  const br = brotliCompressSync(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } });
  return { type, etag: `"${hashed(text)}"`, plain, gzip: gzipSync(plain), br };
}

function send(request: Request, response: Response, packed: Packed, cache = 'no-cache'): void {
  const taken = request.acceptsEncodings(['br', 'gzip']);
  response.setHeader('Content-Type', packed.type);
  response.setHeader('Cache-Control', cache);
  response.setHeader('ETag', packed.etag);
  response.setHeader('Vary', 'Accept-Encoding');
  if (request.headers['if-none-match'] === packed.etag) {
    response.status(304).end();
    return;
  }
  if (taken !== false) response.setHeader('Content-Encoding', taken);
  response.end(taken === 'br' ? packed.br : taken === 'gzip' ? packed.gzip : packed.plain);
}

const asText = (response: { setHeader(name: string, value: string): unknown }): void => {
  response.setHeader('Content-Type', 'text/plain; charset=utf-8');
};
