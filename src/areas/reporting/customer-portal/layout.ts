import { createHash } from 'node:crypto';
import { accentOf } from '../../../platform/accent.ts';
import { type Html, html } from '../../../platform/html.ts';
import type { PortalSettings } from '../../customers/portal-settings/settings.ts';
import { fill } from '../../messaging/documents/number-and-date-formats.ts';
import { STYLE } from './style.ts';
import type { PortalLanguage } from './texts/by-locale.ts';
import type { PortalTexts } from './texts/portal-texts.ts';

const hashOf = (style: string): string => `'sha256-${createHash('sha256').update(style).digest('base64')}'`;

const styleHash = hashOf(STYLE);

/** The seller's colour, as a style sheet of its own. */
function accentStyle(colour: string): string {
  const { light, dark } = accentOf(colour);
  return `:root{--accent:${light};--on-accent:#ffffff}@media(prefers-color-scheme:dark){:root{--accent:${dark};--on-accent:#0d1422}}@media print{:root{--accent:${light};--on-accent:#ffffff}}`;
}

/**
 * Headers of our pages: no caching, no indexing, no referrer, and a policy that allows only the page's own styles, the
 * embedded logo, and forms to the named place; in a frame of the named origins alone.
 */
function headersOf(
  formAction: "'none'" | "'self'",
  { styles, origins }: { styles: readonly string[]; origins: readonly string[] },
): Readonly<Record<string, string>> {
  const ancestors = origins.length === 0 ? "'none'" : origins.join(' ');
  return {
    'Cache-Control': 'no-store',
    'Referrer-Policy': 'no-referrer',
    'X-Robots-Tag': 'noindex, nofollow',
    'X-Content-Type-Options': 'nosniff',
    ...(origins.length === 0 ? { 'X-Frame-Options': 'DENY' } : {}),
    'Content-Security-Policy': `default-src 'none'; style-src ${styles.join(' ')}; img-src data:; base-uri 'none'; form-action ${formAction}; frame-ancestors ${ancestors}`,
  };
}

const PLAIN = { styles: [styleHash], origins: [] };

/** Of everything below the portal's address whose customer is not known. Rule: portal.md#headers. */
export const PORTAL_HEADERS = headersOf("'self'", PLAIN);

/** Of the pages where invoices are paid: one button is a form. */
export const PAY_HEADERS = headersOf("'self'", PLAIN);

/** Of the pages of a seller's customers. Rule: portal.md#headers. */
export const portalHeaders = ({ accent_color, embed_origins }: PortalSettings): Readonly<Record<string, string>> =>
  headersOf("'self'", { styles: [styleHash, hashOf(accentStyle(accent_color))], origins: embed_origins });

/** A whole page; without a colour in that of the service, without `isEmbedded` on a ground of its own. */
export const pageOf = (
  { locale }: PortalLanguage,
  title: string,
  content: Html,
  { accent, isEmbedded = false }: { accent?: string; isEmbedded?: boolean } = {},
): string =>
  html`<!doctype html>
<html lang="${locale}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>${{ html: STYLE }}</style>
${accent !== undefined && html`<style>${{ html: accentStyle(accent) }}</style>`}
</head>
<body${isEmbedded && { html: ' class="embedded"' }}>
${content}
</body>
</html>
`.html;

/** A page with one message; `back` is the address of the overview, if there is one. */
export function noticePage(language: PortalLanguage, notice: keyof PortalTexts['notices'], back?: string): string {
  const { title, text } = language.words.notices[notice];
  return pageOf(
    language,
    title,
    messageOf({ title, text }, back !== undefined && html`<p><a href="${back}">${language.words.back}</a></p>`),
  );
}

/** One message in the middle of a page. */
export const messageOf = ({ title, text }: { title: string; text: string }, action: Html | false): Html =>
  html`<main class="pay"><div class="card alone"><h1>${title}</h1><p>${text}</p>${action}</div></main>`;

/** A link whose life is over: whose it was, and the way to a new one. Rule: portal.md#links-that-have-expired. */
export function expiredPage(language: PortalLanguage, { issuer, action }: { issuer: string; action: string }): string {
  const { title, text, button } = language.words.expired;
  return pageOf(
    language,
    title,
    messageOf(
      { title, text: fill(text, { issuer }) },
      html`<form method="post" action="${action}"><button class="button">${button}</button></form>`,
    ),
  );
}
