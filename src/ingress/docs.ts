import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { type Express, default as express } from 'express';

export const DOCS_PATH = '/docs';

const PAGE = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Meterstone API</title><link rel="stylesheet" href="${DOCS_PATH}/assets/swagger-ui.css"></head>
<body><div id="ui"></div>
<script src="${DOCS_PATH}/assets/swagger-ui-bundle.js"></script>
<script>SwaggerUIBundle({ url: '/openapi.json', dom_id: '#ui', deepLinking: true, persistAuthorization: true });</script>
</body></html>`;

/** `/openapi.json` and the page that shows it, offline. The document's text is made at the first call. */
export function mountDocs(app: Express, makeDocument: () => string): void {
  let text: string | undefined;
  app.get('/openapi.json', (_request, response) => {
    text ??= makeDocument();
    response.type('json').send(text);
  });
  app.get(DOCS_PATH, (_request, response) => {
    response.type('html').send(PAGE);
  });
  const assets = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  app.use(`${DOCS_PATH}/assets`, express.static(assets, { index: false }));
}
