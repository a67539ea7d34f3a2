import type { Temporal } from 'temporal-polyfill';
import type { Instant } from '../../../engine/calendar/instants.ts';
import type { Currency } from '../../../engine/money/currency.ts';
import { type Html, html } from '../../../platform/html.ts';
import type { WalletRow } from '../../credits/wallets/queries.ts';
import type { PortalPower, PortalSettings } from '../../customers/portal-settings/settings.ts';
import { type Format, formatOf } from '../../messaging/documents/number-and-date-formats.ts';
import { payTextsOf } from '../../messaging/pay-texts/by-locale.ts';
import type { PayTexts } from '../../messaging/pay-texts/pay-texts.ts';
import { pageOf } from './layout.ts';
import type { PortalCustomer } from './queries.ts';
import { PORTAL_LOCALES, type PortalLanguage } from './texts/by-locale.ts';
import type { TopUpBounds } from './wallet/top-up.ts';

/** What every part of a page needs: whose it is, in which words, what may be done, where it stands. */
export interface Frame {
  customer: PortalCustomer;
  settings: PortalSettings;
  language: PortalLanguage;
  pay: PayTexts;
  now: Instant;
  /** The page below the token: `` is the overview. */
  path: string;
  /** Address of what is below the token, relative to the page: ``, `../`, `TOKEN/`. */
  root: string;
  isEmbedded: boolean;
  /** Whether the language was asked for this visit alone. */
  isOtherLanguage: boolean;
  /** Whether the link allows more than reading. */
  mayAct: boolean;
  /** A new nonce of a form, signed for this customer. */
  nonce(): string;
  /** Bounds of a top-up. */
  bounds(wallet: WalletRow): TopUpBounds;
  formatOf(currency: string): Format;
  date(day: Temporal.PlainDate): string;
  /** The day of an instant at the customer's. */
  day(at: Temporal.Instant): string;
}

export type FrameFacts = Omit<Frame, 'pay' | 'formatOf' | 'date' | 'day' | 'isOtherLanguage'> & {
  ownLanguage: PortalLanguage;
};

export function frameOf({ ownLanguage, ...facts }: FrameFacts): Frame {
  const { customer, language } = facts;
  const formats = new Map<string, Format>();
  const date = (day: Temporal.PlainDate) => day.toLocaleString(language.locale, { dateStyle: 'medium' });
  return {
    ...facts,
    isOtherLanguage: language.locale !== ownLanguage.locale,
    pay: payTextsOf(language.locale),
    formatOf(currency) {
      const format = formats.get(currency) ?? formatOf(language.locale, currency as Currency, customer.zone);
      formats.set(currency, format);
      return format;
    },
    date,
    day: (at) => date(at.toZonedDateTimeISO(customer.zone).toPlainDate()),
  };
}

/** Whether the customer may do something here: its link and its seller allow it. */
export const may = ({ mayAct, settings }: Frame, power: PortalPower): boolean => mayAct && settings.allow[power];

/** A relative address below the token, which keeps how the page is looked at. */
export function addressOf(frame: Frame, path: string, query: Readonly<Record<string, string>> = {}): string {
  const kept = {
    ...(frame.isEmbedded ? { embed: '1' } : {}),
    ...(frame.isOtherLanguage ? { lang: frame.language.locale } : {}),
    ...query,
  };
  const asked = new URLSearchParams(kept).toString();
  return `${frame.root}${path}${path === '' && frame.root === '' ? './' : ''}${asked === '' ? '' : `?${asked}`}`;
}

/** The customer's name as documents print it. */
export function nameOf({ legal_name, name, firstname, lastname, external_id }: PortalCustomer): string {
  const person = [firstname, lastname].filter((part) => part !== null).join(' ');
  return legal_name || name || person || external_id;
}

/**
 * A form below the token, with a nonce of its own: sent twice, it is one write. One that `leaves` ends at a provider,
 * which refuses frames.
 */
export const formOf = (
  frame: Frame,
  path: string,
  content: Html,
  { nonce = frame.nonce(), leaves = false }: { nonce?: string; leaves?: boolean } = {},
): Html =>
  html`<form method="post" action="${addressOf(frame, path)}"${leaves && frame.isEmbedded && { html: ' target="_top"' }}><input type="hidden" name="nonce" value="${nonce}">${content}</form>`;

/** A page of the portal below the seller's name, with its ways to the others. */
export function framed(frame: Frame, title: string, content: Html): string {
  const { customer, settings, language, isEmbedded } = frame;
  return pageOf(
    language,
    `${title} – ${customer.entity_name}`,
    html`${topOf(frame)}
<main id="main">
${content}
</main>
${!isEmbedded && footOf(frame)}`,
    { accent: settings.accent_color, isEmbedded },
  );
}

/** The other pages, by what stands in their address first. */
const WAYS = ['', 'invoices', 'payment_methods', 'alerts', 'details'] as const;
const BELOW: Readonly<Record<string, (typeof WAYS)[number]>> = {
  invoices: 'invoices',
  credit_notes: 'invoices',
  receipts: 'invoices',
  payment_methods: 'payment_methods',
  alerts: 'alerts',
  details: 'details',
};

function topOf(frame: Frame): Html {
  const { customer, language, isEmbedded, path } = frame;
  const { words } = language;
  const names = {
    '': words.overview,
    invoices: words.invoices,
    payment_methods: words.methods,
    alerts: words.alerts,
    details: words.details,
  };
  const here = BELOW[path.split('/')[0]!] ?? '';
  const logo = customer.entity_logo?.startsWith('data:image/') ? customer.entity_logo : undefined;
  return html`<header class="top"><div>
${
  !isEmbedded &&
  html`<a class="skip" href="#main">${words.skip}</a>
<div class="who"><p class="seller">${logo && html`<img src="${logo}" alt="">`}<span>${customer.entity_name}</span></p><p class="soft">${nameOf(customer)}</p></div>`
}
<nav aria-label="${words.title}">${WAYS.filter((way) => way !== 'alerts' || frame.settings.allow.alerts).map(
    (way) =>
      html`<a href="${addressOf(frame, way)}"${way === here && { html: ' aria-current="page"' }}>${names[way]}</a>`,
  )}</nav>
</div></header>`;
}

function footOf(frame: Frame): Html {
  const { customer, settings, language, path } = frame;
  const { words } = language;
  const links = [
    [settings.support_url, words.support],
    [settings.terms_url, words.terms],
    [settings.privacy_url, words.privacy],
  ] as const;
  return html`<footer class="foot">
<div>${customer.entity_name}${customer.entity_email && html` · <a href="mailto:${customer.entity_email}">${customer.entity_email}</a>`}${links.map(
    ([url, name]) => url && html` · <a href="${url}" rel="noopener noreferrer" target="_blank">${name}</a>`,
  )}${!settings.hide_product_name && html` · Meterstone`}</div>
<nav aria-label="${words.language}">${PORTAL_LOCALES.map((locale) => {
    const isHere = locale === language.locale;
    const address = addressOf({ ...frame, isOtherLanguage: false }, path, { lang: locale });
    return html`<a href="${address}" lang="${locale}" hreflang="${locale}"${isHere && { html: ' aria-current="true"' }}>${ownNameOf(locale)}</a>`;
  })}</nav>
</footer>`;
}

/** A language in its own words. */
export const ownNameOf = (locale: string): string => {
  const name = new Intl.DisplayNames(locale, { type: 'language', languageDisplay: 'standard' }).of(locale) ?? locale;
  return name.charAt(0).toLocaleUpperCase(locale) + name.slice(1);
};
