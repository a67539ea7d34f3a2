import {
  type DocumentLocale,
  languageOf as documentLanguageOf,
  type Language,
} from '../../../messaging/documents/texts/by-locale.ts';
import type { PortalCustomer } from '../queries.ts';
import { de } from './de.ts';
import { en } from './en.ts';
import { es } from './es.ts';
import { fr } from './fr.ts';
import { it } from './it.ts';
import { nb } from './nb.ts';
import type { PortalTexts } from './portal-texts.ts';
import { ptBr } from './pt-br.ts';
import { sv } from './sv.ts';
import { zhTw } from './zh-tw.ts';

const BY_LOCALE: Readonly<Record<DocumentLocale, PortalTexts>> = {
  de,
  en,
  es,
  fr,
  it,
  nb,
  'pt-BR': ptBr,
  sv,
  'zh-TW': zhTw,
};

/** Texts of the page, and texts that it shares with documents. */
export interface PortalLanguage {
  locale: DocumentLocale;
  words: PortalTexts;
  documents: Language['texts'];
}

/** English first, because a browser without preference gets the first. */
export const PORTAL_LOCALES = [...new Set(['en', ...Object.keys(BY_LOCALE)])];

/** The language of a customer's documents; browsers have fonts for every language. */
export const languageOf = (customer: Pick<PortalCustomer, 'document_locale' | 'entity_locale'>): PortalLanguage =>
  languageFrom(customer.document_locale, customer.entity_locale);

/** The words of the pages in the language of a document. */
export const portalTextsOf = (locale: DocumentLocale): PortalTexts => BY_LOCALE[locale];

/** A language that an address asks for; undefined for any other text. */
export const languageAsked = (locale: string | null): PortalLanguage | undefined =>
  locale !== null && Object.hasOwn(BY_LOCALE, locale) ? languageFrom(locale, null) : undefined;

/** The language that a browser prefers, for unknown visitors: English unless it is supported. */
export const languageOfBrowser = (locale: string | null): PortalLanguage => languageFrom(locale, null);

function languageFrom(locale: string | null, otherwise: string | null): PortalLanguage {
  const { locale: chosen, texts } = documentLanguageOf(locale, otherwise);
  return { locale: chosen, words: BY_LOCALE[chosen], documents: texts };
}
