import { type Accent, accentOf } from '../../../platform/accent.ts';
import { type Html, html } from '../../../platform/html.ts';
import { withoutMarks } from './pay-link.ts';

/** The part of a mail in HTML, in the order in which it is read. Rule: mails.md#how-a-mail-looks. */
export interface MailPage {
  locale: string;
  title: string;
  /** What lists of mails show beside the subject. */
  preview: string;
  /** Data URI of the sender's logo, which goes with the mail as a part of its own. */
  logo: string | null;
  sender: string;
  /** `#rrggbb` of the sender's pages; null: ours. */
  accent: string | null;
  blocks: readonly (Html | false)[];
  footer: readonly (string | Html)[];
}

/** A larger logo is left out, because each stored mail holds its own: 40 kB are enough for one of 600 pixels. */
const LOGO_LETTERS = 40_000;

const FONT = `font-family:-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif`;
const INK = '#1a2230';
const SOFT = '#5d6879';
const LINE = '#e4e7ec';
const OWN_ACCENT = '#2456c9';
const OWN_ACCENT_IN_DARK = '#8fb2ff';

/** Letters on a button in dark: those of the pages of customers. */
const ON_ACCENT_IN_DARK = '#0d1422';

/** Readers that know dark mode apply it; styles of elements hold for the others. */
const darkOf = ({ dark }: Accent): string => `
:root { color-scheme: light dark; supported-color-schemes: light dark; }
@media (max-width: 480px) { .card { padding: 24px 20px !important; } .sum { font-size: 28px !important; line-height: 34px !important; } }
@media (prefers-color-scheme: dark) {
.ground { background: #11151c !important; } .card { background: #1a2029 !important; border-color: #2c3542 !important; }
.bar { background: ${dark} !important; } .logo { background: #ffffff !important; padding: 8px !important; }
.ink { color: #e8ecf2 !important; } .soft { color: #9aa6b6 !important; } .line { border-color: #2c3542 !important; }
.button { background: ${dark} !important; color: ${ON_ACCENT_IN_DARK} !important; } .link { color: ${dark} !important; } }`;

/**
 * A mail as a page: tables and styles of elements, because mail readers know little else; 600 pixels wide, less where
 * there is less room, light and dark, with nothing that is loaded from elsewhere. Texts run in their own direction.
 */
export function mailPage({ locale, title, preview, logo, sender, accent, blocks, footer }: MailPage): string {
  const colours =
    accent === null || accent === OWN_ACCENT ? { light: OWN_ACCENT, dark: OWN_ACCENT_IN_DARK } : accentOf(accent);
  // A style that blocks share is written where they stand, since many readers know no styles of a page.
  const written = blocks.map((block) => block && { html: block.html.replaceAll(ACCENT, colours.light) });
  const below = footer.map((line) =>
    typeof line === 'string' ? html`${plain(line)}<br>` : { html: line.html.replaceAll(ACCENT, colours.light) },
  );
  return html`<!doctype html>
<html lang="${locale}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<meta name="format-detection" content="telephone=no, date=no, address=no, email=no">
<title>${plain(title)}</title>
<style>${{ html: darkOf(colours) }}</style>
</head>
<body class="ground" style="margin:0;padding:0;background:#f5f6f8;-webkit-text-size-adjust:100%">
<div style="display:none;max-height:0;overflow:hidden;font-size:1px;line-height:1px;color:#f5f6f8;opacity:0">${plain(preview)}</div>
<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" style="background:#f5f6f8">
<tr><td align="center" style="padding:32px 12px">
${OUTLOOK_OPEN}<table role="presentation" align="center" width="100%" cellpadding="0" cellspacing="0" style="width:100%;max-width:600px;${FONT}">
<tr><td class="ink" dir="auto" style="padding:0 4px 20px;color:${INK};font-size:15px;line-height:22px;font-weight:600;word-break:break-word">${logoOf(logo)}${plain(sender)}</td></tr>
<tr><td class="bar" bgcolor="${colours.light}" height="4" style="height:4px;font-size:0;line-height:0;background:${colours.light};border-radius:12px 12px 0 0">&nbsp;</td></tr>
<tr><td class="card" bgcolor="#ffffff" style="padding:32px;background:#ffffff;border:1px solid ${LINE};border-top:0;border-radius:0 0 12px 12px">
${written}</td></tr>
<tr><td class="soft" dir="auto" style="padding:20px 4px 0;color:${SOFT};font-size:13px;line-height:20px;word-break:break-word">${below}</td></tr>
</table>${OUTLOOK_CLOSE}
</td></tr>
</table>
</body>
</html>
`.html;
}

// Outlook knows no greatest width: it is given a table of one.
const OUTLOOK_OPEN: Html = {
  html: '<!--[if mso]><table role="presentation" align="center" width="600" cellpadding="0" cellspacing="0"><tr><td><![endif]-->\n',
};
const OUTLOOK_CLOSE: Html = { html: '\n<!--[if mso]></td></tr></table><![endif]-->' };

/** Stands for the sender's colour in a block. */
const ACCENT = '\uE002';

const logoOf = (logo: string | null): Html | false | undefined =>
  logo?.startsWith('data:image/') &&
  logo.length <= LOGO_LETTERS &&
  html`<img class="logo" src="${logo}" alt="" height="40" style="display:block;height:40px;max-width:240px;margin-bottom:12px;border:0;border-radius:8px">`;

/** Texts of others cannot hold the mark of a link or of a colour. */
const plain = (text: string): string => withoutMarks(text).replaceAll(ACCENT, '');

/** What the mail is about, in large letters, and below it by when or since when. */
export const headline = (text: string, note: string): Html =>
  html`<h1 class="ink sum" dir="auto" style="margin:0 0 4px;color:${INK};font-size:32px;line-height:40px;font-weight:700;letter-spacing:-.01em;word-break:break-word">${plain(text)}</h1>
<p class="soft" dir="auto" style="margin:0 0 20px;color:${SOFT};font-size:15px;line-height:22px;word-break:break-word">${plain(note)}</p>
`;

/** A code that is put in the place of its mark. */
export const code = (mark: string): Html =>
  html`<p class="ink" style="margin:8px 0 16px;color:${INK};font-size:32px;line-height:40px;font-weight:700;letter-spacing:.2em">${mark}</p>
`;

/** A headline that is a sentence. */
export const heading = (text: string): Html =>
  html`<h1 class="ink" dir="auto" style="margin:0 0 12px;color:${INK};font-size:22px;line-height:30px;font-weight:700;word-break:break-word">${plain(text)}</h1>
`;

/** Breaks within a paragraph stay; the mark of `link` in it becomes a link. */
export const paragraph = (text: string, link?: { mark: string; label: string }): Html => {
  const pieces = link === undefined ? [text] : text.split(link.mark);
  return html`<p class="ink" dir="auto" style="margin:0 0 16px;color:${INK};font-size:16px;line-height:24px;word-break:break-word">${pieces.map(
    (piece, index) => [index > 0 && link !== undefined && anchor(link), linesOf(piece)],
  )}</p>
`;
};

const linesOf = (text: string) =>
  plain(text)
    .split('\n')
    .map((line, index) => [index > 0 && BREAK, line]);

const BREAK: Html = { html: '<br>' };

const anchor = ({ mark, label }: { mark: string; label: string }): Html =>
  html`<a class="link" href="${mark}" style="color:${ACCENT}">${plain(label)}</a>`;

/** A smaller remark. */
export const remark = (text: string): Html =>
  html`<p class="soft" dir="auto" style="margin:8px 0 0;color:${SOFT};font-size:14px;line-height:20px;word-break:break-word">${plain(text)}</p>
`;

/** Space between what is asked and what it is about. */
export const gap: Html = { html: '<div style="height:20px;line-height:20px;font-size:0">&nbsp;</div>\n' };

/** A line of a list: what, with a remark below, and how much. */
export interface MailRow {
  title: string;
  hint: string;
  amount: string;
}

/** A list of amounts in a column, with what leads from their sum to the total, and the total. */
export const amounts = (
  rows: readonly MailRow[],
  { more, sums = [], total }: { more: string; sums?: readonly MailRow[]; total: MailRow },
): Html =>
  html`<table class="ink" width="100%" cellpadding="0" cellspacing="0" style="margin:4px 0 8px;color:${INK};font-size:15px;line-height:22px">
${rows.map(rowOf)}${more !== '' && rowOf({ title: '', hint: more, amount: '' })}${sums.map(sumOf)}<tr><th class="line" align="left" scope="row" style="padding:12px 0 4px;border-top:2px solid ${LINE}">${plain(total.title)}</th>
<td class="line" align="right" style="padding:12px 0 4px 16px;border-top:2px solid ${LINE};font-weight:700;white-space:nowrap">${plain(total.amount)}</td></tr>
</table>
`;

const rowOf = ({ title, hint, amount }: MailRow): Html =>
  html`<tr><th class="line" align="left" scope="row" width="100%" style="padding:10px 0;border-top:1px solid ${LINE};font-weight:600;word-break:break-word">${title !== '' && html`<span dir="auto">${plain(title)}</span>`}
${hint !== '' && html`<div class="soft" dir="auto" style="color:${SOFT};font-size:13px;line-height:20px;font-weight:400">${plain(hint)}</div>`}</th>
<td class="line" align="right" valign="top" style="padding:10px 0 10px 16px;border-top:1px solid ${LINE};white-space:nowrap">${plain(amount)}</td></tr>
`;

const sumOf = ({ title, amount }: MailRow, index: number): Html =>
  html`<tr><th class="${index === 0 ? 'soft line' : 'soft'}" align="left" scope="row" style="padding:${index === 0 ? '10px' : '2px'} 0 2px;${index === 0 ? `border-top:1px solid ${LINE};` : ''}color:${SOFT};font-weight:400">${plain(title)}</th>
<td class="${index === 0 ? 'line' : ''}" align="right" style="padding:${index === 0 ? '10px' : '2px'} 0 2px 16px;${index === 0 ? `border-top:1px solid ${LINE};` : ''}white-space:nowrap">${plain(amount)}</td></tr>
`;

/** Names and what they stand for, below one another. */
export const facts = (rows: readonly (readonly [string, string])[]): Html =>
  html`<table class="ink" width="100%" cellpadding="0" cellspacing="0" style="margin:0 0 16px;color:${INK};font-size:14px;line-height:20px">
${rows.map(
  ([name, value]) =>
    html`<tr><th class="soft" align="left" valign="top" scope="row" style="padding:3px 16px 3px 0;color:${SOFT};font-weight:400">${plain(name)}</th>
<td width="65%" valign="top" dir="auto" style="padding:3px 0;word-break:break-word">${plain(value)}</td></tr>
`,
)}</table>
`;

/** The one button of a mail. Outlook pads the cell, the others the link. */
export const button = (mark: string, label: string): Html =>
  html`<table role="presentation" width="100%" cellpadding="0" cellspacing="0"><tr><td class="button" align="center" bgcolor="${ACCENT}" style="background:${ACCENT};border-radius:8px;mso-padding-alt:14px 20px">
<a class="button" href="${mark}" style="display:block;padding:14px 20px;border-radius:8px;background:${ACCENT};color:#ffffff;font-size:16px;line-height:20px;font-weight:600;text-align:center;text-decoration:none;word-break:break-word">${plain(label)}</a></td></tr></table>
`;

/** A link that is not the mail's purpose. */
export const link = (mark: string, label: string): Html =>
  html`<p style="margin:4px 0 0;font-size:15px;line-height:22px">${anchor({ mark, label })}</p>
`;

/** The link to a customer's pages, below a mail. */
export const footerLink = (mark: string, label: string, note: string): Html =>
  html`${anchor({ mark, label })} · ${plain(note)}<br><br>`;
