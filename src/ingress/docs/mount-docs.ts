import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { type Express, default as express } from 'express';

export const DOCS_PATH = '/docs';

const PAGE = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Meterstone API</title>
<link rel="icon" href="${DOCS_PATH}/assets/favicon-32x32.png">
<link rel="stylesheet" href="${DOCS_PATH}/assets/swagger-ui.css"></head>
<body><div id="ui"></div>
<script src="${DOCS_PATH}/assets/swagger-ui-bundle.js"></script>
<script src="${DOCS_PATH}/show.js"></script>
</body></html>`;

// Folded and searchable, because drawing more than 300 operations together keeps a browser busy for many seconds.
const SHOW = `SwaggerUIBundle({
  url: '/openapi.json', dom_id: '#ui', deepLinking: true, persistAuthorization: true,
  docExpansion: 'none', filter: true, defaultModelsExpandDepth: -1,
});`;

/**
 * `/openapi.json` and the page that shows it, offline. The document's text is made at the first call.
 *
 * apiOrigin  scheme and host that the page may call beside its own: those of the documented server
 */
export function mountDocs(app: Express, makeDocument: () => string, apiOrigin?: string): void {
  let text: string | undefined;
  app.get('/openapi.json', (_request, response) => {
    text ??= makeDocument();
    response.type('json').send(text);
  });
  const policy = policyOf(apiOrigin);
  app.get(DOCS_PATH, (_request, response) => {
    response.setHeader('Content-Security-Policy', policy);
    response.type('html').send(PAGE);
  });
  app.get(`${DOCS_PATH}/show.js`, (_request, response) => {
    response.type('js').send(SHOW);
  });
  const assets = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  app.use(`${DOCS_PATH}/assets`, express.static(assets, { index: false }));
}

/** The page's own pictures are data URIs, and it styles its elements inline. */
const policyOf = (apiOrigin: string | undefined): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    `connect-src 'self'${apiOrigin === undefined ? '' : ` ${apiOrigin}`}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
