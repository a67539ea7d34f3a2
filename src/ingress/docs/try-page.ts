import { DOCS_PATH } from './frame.ts';

/** A page that sends requests with the reader's key, offline. */
export const TRY_PAGE = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Try it · Meterstone</title>
<link rel="icon" href="${DOCS_PATH}/assets/favicon-32x32.png">
<link rel="stylesheet" href="${DOCS_PATH}/assets/swagger-ui.css"></head>
<body><div id="ui"></div>
<script src="${DOCS_PATH}/assets/swagger-ui-bundle.js"></script>
<script src="${DOCS_PATH}/try.js"></script>
</body></html>`;

// Folded and searchable, because drawing more than 300 operations together keeps a browser busy for many seconds.
export const TRY_SCRIPT = `SwaggerUIBundle({
  url: '/openapi.json', dom_id: '#ui', deepLinking: true, persistAuthorization: true,
  docExpansion: 'none', filter: true, defaultModelsExpandDepth: -1,
});`;

/** The page's own pictures are data URIs, and it styles its elements inline. */
export const tryPolicy = (apiOrigin: string | undefined): string =>
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
