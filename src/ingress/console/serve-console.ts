import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { Express, Request, Response } from 'express';
import type { Config } from '../../platform/config.ts';
import { CONSOLE_FOLDER, type ConsoleManifest, MANIFEST } from '../../platform/console-files.ts';
import { html } from '../../platform/html.ts';
import { projectRoot } from '../../platform/project-root.ts';
import { DOCS_PATH } from '../docs/frame.ts';

export const CONSOLE_PATH = '/console';

const HEADERS = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "frame-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'Referrer-Policy': 'no-referrer',
  'X-Frame-Options': 'DENY',
};
const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};
const FOR_EVER = 'public, max-age=31536000, immutable';

interface Asset {
  type: string;
  plain: Buffer;
  gzip: Buffer;
  br: Buffer;
}
interface Built {
  shell: string;
  etag: string;
  assets: ReadonlyMap<string, Asset>;
}

/**
 * The pages of the console: one shell for every address below `/console`, and its files, which were packed when they
 * were built and are kept in memory. `/` leads a browser there, or to the documentation where there is no console.
 *
 * Rule: console.md#pages.
 */
export function mountConsole(root: Express, config: Pick<Config, 'CONSOLE'>): void {
  root.get('/', (request, response, next) => {
    if (!prefersHtml(request)) return next();
    response.redirect(302, config.CONSOLE ? CONSOLE_PATH : DOCS_PATH);
  });
  if (!config.CONSOLE) return;
  let built: Built | undefined;
  root.get(`${CONSOLE_PATH}/assets/:name`, (request, response, next) => {
    built ??= readBuilt();
    const asset = built?.assets.get(String(request.params.name));
    return asset ? sendAsset(request, response, asset) : next();
  });
  const showShell = (request: Request, response: Response): void => {
    built ??= readBuilt();
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    response.setHeader('Cache-Control', 'no-cache');
    if (!built) {
      response.status(503).type('text/plain').send('The console is not built: npm run build');
      return;
    }
    response.setHeader('ETag', built.etag);
    if (request.headers['if-none-match'] === built.etag) response.status(304).end();
    else response.type('html').send(built.shell);
  };
  root.get(CONSOLE_PATH, showShell);
  root.get(`${CONSOLE_PATH}/o/*rest`, showShell);
}

/** A browser names HTML before everything else it takes; programs name nothing, or JSON. */
const prefersHtml = (request: Request): boolean =>
  /text\/html/i.test(request.headers.accept ?? '') && request.accepts(['json', 'html']) === 'html';

function readBuilt(): Built | undefined {
  const folder = join(projectRoot(), CONSOLE_FOLDER);
  if (!existsSync(join(folder, MANIFEST))) return undefined;
  const manifest = JSON.parse(readFileSync(join(folder, MANIFEST), 'utf8')) as ConsoleManifest;
  const names = readdirSync(join(folder, 'assets')).filter((name) => TYPES[extname(name)] !== undefined);
  const assets = new Map(
    names.map((name) => {
      const path = join(folder, 'assets', name);
      const asset: Asset = {
        type: TYPES[extname(name)]!,
        plain: readFileSync(path),
        gzip: readFileSync(`${path}.gz`),
        br: readFileSync(`${path}.br`),
      };
      return [name, asset];
    }),
  );
  const shell = shellOf(manifest);
  return { shell, etag: `"${createHash('sha256').update(shell).digest('base64url').slice(0, 22)}"`, assets };
}

const shellOf = ({ script, style, preloads }: ConsoleManifest): string => {
  const at = (name: string) => `${CONSOLE_PATH}/assets/${name}`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Meterstone</title>
<link rel="icon" href="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24' fill='%232456c9'%3E%3Crect x='3' y='13' width='4' height='8' rx='1'/%3E%3Crect x='10' y='8' width='4' height='13' rx='1'/%3E%3Crect x='17' y='3' width='4' height='18' rx='1'/%3E%3C/svg%3E">
<link rel="stylesheet" href="${at(style)}">
${preloads.map((name) => html`<link rel="modulepreload" href="${at(name)}">`)}
<script type="module" src="${at(script)}"></script>
</head>
<body><div id="app"></div>
<noscript>The console needs JavaScript. The API, which can do all that it can, is described at <a href="${DOCS_PATH}">${DOCS_PATH}</a>.</noscript>
</body>
</html>
`.html;
};

function sendAsset(request: Request, response: Response, { type, plain, gzip, br }: Asset): void {
  const taken = request.acceptsEncodings(['br', 'gzip']);
  response.setHeader('Content-Type', type);
  response.setHeader('Cache-Control', FOR_EVER);
  response.setHeader('Vary', 'Accept-Encoding');
  response.setHeader('X-Content-Type-Options', 'nosniff');
  if (taken !== false) response.setHeader('Content-Encoding', taken);
  response.end(taken === 'br' ? br : taken === 'gzip' ? gzip : plain);
}
