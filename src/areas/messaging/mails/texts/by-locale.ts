import type { DocumentLocale } from '../../documents/texts/by-locale.ts';
import { de } from './de.ts';
import { en } from './en.ts';
import { es } from './es.ts';
import { fr } from './fr.ts';
import { it } from './it.ts';
import type { MailTexts } from './mail-texts.ts';
import { nb } from './nb.ts';
import { ptBr } from './pt-br.ts';
import { sv } from './sv.ts';
import { zhTw } from './zh-tw.ts';

const BY_LOCALE: Readonly<Record<DocumentLocale, MailTexts>> = {
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

/** The words of mails in the language of a document. */
export const mailTextsOf = (locale: DocumentLocale): MailTexts => BY_LOCALE[locale];
