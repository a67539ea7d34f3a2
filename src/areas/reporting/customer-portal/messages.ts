import { type Html, html } from '../../../platform/html.ts';
import { type Frame, formOf } from './frame.ts';
import { messageOf, pageOf } from './layout.ts';

/** What became of a form, above the page that it stood on. */
export const saidOf = (text: string, tone: '' | 'bad' | 'wait' = ''): Html =>
  html`<p class="said ${tone}" role="${tone === 'bad' ? 'alert' : 'status'}">${text}</p>
`;

/** The page that leads on to the provider's, of which the header `Refresh` is the other half. */
export const openingPage = ({ pay: { opening }, language, settings }: Frame, url: string): string =>
  pageOf(
    language,
    opening.title,
    messageOf(
      opening,
      html`<p><a class="button" href="${url}" target="_top" rel="noopener noreferrer">${opening.link}</a></p>`,
    ),
    { accent: settings.accent_color },
  );

/** A form whose write has no answer yet: it can be sent again, and is done once. */
export function pendingPage(
  frame: Frame,
  path: string,
  { nonce, fields }: { nonce: string; fields: Readonly<Record<string, string>> },
): string {
  const { language, settings, pay } = frame;
  const hidden = Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );
  return pageOf(
    language,
    language.words.notices.pending.title,
    messageOf(
      language.words.notices.pending,
      formOf(frame, path, html`${hidden}<button class="button">${pay.tryAgain.button}</button>`, { nonce }),
    ),
    { accent: settings.accent_color },
  );
}
