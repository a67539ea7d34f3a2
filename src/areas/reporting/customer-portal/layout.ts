import { createHash } from 'node:crypto';
import { type Html, html } from '../../../platform/html.ts';
import { STYLE } from './style.ts';
import type { PortalLanguage } from './texts/by-locale.ts';
import type { PortalTexts } from './texts/portal-texts.ts';

const styleHash = createHash('sha256').update(STYLE).digest('base64');

/**
 * Headers of our pages: no caching, no indexing, no referrer, and a policy that allows only the page's own style, the
 * embedded logo, and forms to the named place.
 */
const headersOf = (formAction: "'none'" | "'self'"): Readonly<Record<string, string>> => ({
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Robots-Tag': 'noindex, nofollow',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Content-Security-Policy': `default-src 'none'; style-src 'sha256-${styleHash}'; img-src data:; base-uri 'none'; form-action ${formAction}; frame-ancestors 'none'`,
});

/** Of everything below the portal's address. */
export const PORTAL_HEADERS = headersOf("'none'");

/** Of the pages where invoices are paid: one button is a form. */
export const PAY_HEADERS = headersOf("'self'");

/** A whole page. */
export const pageOf = ({ locale }: PortalLanguage, title: string, content: Html): string =>
  html`<!doctype html>
<html lang="${locale}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${{ html: STYLE }}</style>
</head>
<body>
<main>
${content}
</main>
</body>
</html>
`.html;

/** A page with one message; `back` is the address of the overview, if there is one. */
export function noticePage(language: PortalLanguage, notice: keyof PortalTexts['notices'], back?: string): string {
  const { title, text } = language.words.notices[notice];
  return pageOf(
    language,
    title,
    html`<div class="pay"><div class="card alone"><h1>${title}</h1><p>${text}</p>${back !== undefined && html`<p><a href="${back}">${language.words.back}</a></p>`}</div></div>`,
  );
}
