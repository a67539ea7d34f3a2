import type { DocumentLocale } from '../documents/texts/by-locale.ts';
import { de } from './de.ts';
import { en } from './en.ts';
import { es } from './es.ts';
import { fr } from './fr.ts';
import { it } from './it.ts';
import { nb } from './nb.ts';
import type { PayTexts } from './pay-texts.ts';
import { ptBr } from './pt-br.ts';
import { sv } from './sv.ts';
import { zhTw } from './zh-tw.ts';

const BY_LOCALE: Readonly<Record<DocumentLocale, PayTexts>> = {
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

/** The words about paying in the language of a document. */
export const payTextsOf = (locale: DocumentLocale): PayTexts => BY_LOCALE[locale];
