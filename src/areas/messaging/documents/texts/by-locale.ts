import { own } from '../../../../engine/own.ts';
import { de } from './de.ts';
import type { DocumentTexts } from './document-texts.ts';
import { en } from './en.ts';
import { es } from './es.ts';
import { fr } from './fr.ts';
import { it } from './it.ts';
import { nb } from './nb.ts';
import { ptBr } from './pt-br.ts';
import { sv } from './sv.ts';
import { zhTw } from './zh-tw.ts';

/** Languages of documents. Rule: json.md "locales". */
const BY_LOCALE = { de, en, es, fr, it, nb, 'pt-BR': ptBr, sv, 'zh-TW': zhTw } as const satisfies Record<
  string,
  DocumentTexts
>;

export type DocumentLocale = keyof typeof BY_LOCALE;
export const DOCUMENT_LOCALES = Object.keys(BY_LOCALE) as DocumentLocale[];

const isKnown = (locale: string | null): locale is DocumentLocale =>
  locale !== null && own(BY_LOCALE, locale) !== undefined;

export interface Language {
  locale: DocumentLocale;
  texts: DocumentTexts;
}

/**
 * Language of a document: the customer's locale, else the billing entity's, else English.
 *
 * Rule: invoice-operations.md#operations "locale".
 */
export function languageOf(customers: string | null, entitys: string | null): Language {
  const locale = isKnown(customers) ? customers : isKnown(entitys) ? entitys : 'en';
  return { locale, texts: BY_LOCALE[locale] };
}
