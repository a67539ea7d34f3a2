import { type Html, html } from '../../../platform/html.ts';
import { withoutMarks } from './pay-link.ts';

/** The part of a mail in HTML, in the order in which it is read. Rule: payment-requests.md#the-mail-of-a-request. */
export interface MailPage {
  locale: string;
  title: string;
  /** Data URI of the sender's logo, which goes with the mail as a part of its own. */
  logo: string | null;
  sender: string;
  blocks: readonly (Html | false)[];
  footer: readonly string[];
}

/** A larger logo is left out, because each stored mail holds its own: 40 kB are enough for one of 600 pixels. */
const LOGO_LETTERS = 40_000;

const FONT = `font-family:system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif`;
const INK = '#1a2230';
const SOFT = '#5d6879';
const LINE = '#e4e7ec';
const ACCENT = '#2456c9';

/** Readers that know dark mode apply it; styles of elements hold for the others. */
const DARK = `@media (prefers-color-scheme: dark) {
.ground { background: #11151c !important; } .card { background: #1a2029 !important; border-color: #2c3542 !important; }
.ink { color: #e8ecf2 !important; } .soft { color: #9aa6b6 !important; } .line { border-color: #2c3542 !important; }
.button { background: #8fb2ff !important; color: #0d1422 !important; } .link { color: #8fb2ff !important; } }`;

/**
 * A mail as a page: tables and styles of elements, because mail readers know little else; at most 600 pixels wide,
 * light and dark, with nothing that is loaded from elsewhere.
 */
export const mailPage = ({ locale, title, logo, sender, blocks, footer }: MailPage): string =>
  html`<!doctype html>
<html lang="${locale}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${plain(title)}</title>
<style>${{ html: DARK }}</style>
</head>
<body class="ground" style="margin:0;background:#f5f6f8">
<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" style="background:#f5f6f8">
<tr><td align="center" style="padding:24px 12px">
<table role="presentation" width="600" cellpadding="0" cellspacing="0" style="width:100%;max-width:600px;${FONT}">
<tr><td class="soft" style="padding:0 4px 16px;color:${SOFT};font-size:14px;line-height:20px">${logoOf(logo)}${plain(sender)}</td></tr>
<tr><td class="card" style="padding:24px;background:#ffffff;border:1px solid ${LINE};border-radius:12px">
${blocks}</td></tr>
<tr><td class="soft" style="padding:16px 4px 0;color:${SOFT};font-size:13px;line-height:20px">${footer.map((line) => html`${plain(line)}<br>`)}</td></tr>
</table>
</td></tr>
</table>
</body>
</html>
`.html;

const logoOf = (logo: string | null): Html | false | undefined =>
  logo?.startsWith('data:image/') &&
  logo.length <= LOGO_LETTERS &&
  html`<img src="${logo}" alt="" height="40" style="display:block;height:40px;margin-bottom:12px">`;

/** Texts of others cannot hold the mark of a link. */
const plain = withoutMarks;

/** What the mail is about, in large letters. */
export const heading = (text: string): Html =>
  html`<h1 class="ink" style="margin:0 0 12px;color:${INK};font-size:24px;line-height:30px">${plain(text)}</h1>
`;

export const paragraph = (text: string): Html =>
  html`<p class="ink" style="margin:0 0 12px;color:${INK};font-size:16px;line-height:24px">${plain(text)}</p>
`;

/** A smaller remark. */
export const remark = (text: string): Html =>
  html`<p class="soft" style="margin:8px 0 0;color:${SOFT};font-size:14px;line-height:20px">${plain(text)}</p>
`;

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
  html`<table class="ink" width="100%" cellpadding="0" cellspacing="0" style="margin:4px 0 20px;color:${INK};font-size:15px;line-height:22px">
${rows.map(rowOf)}${more !== '' && rowOf({ title: '', hint: more, amount: '' })}${sums.map(sumOf)}<tr><th class="line" align="left" style="padding:10px 0;border-top:2px solid ${LINE}">${plain(total.title)}</th>
<td class="line" align="right" style="padding:10px 0 10px 16px;border-top:2px solid ${LINE};font-weight:700;white-space:nowrap">${plain(total.amount)}</td></tr>
</table>
`;

const rowOf = ({ title, hint, amount }: MailRow): Html =>
  html`<tr><th class="line" align="left" scope="row" width="100%" style="padding:10px 0;border-top:1px solid ${LINE};font-weight:600">${plain(title)}
<div class="soft" style="color:${SOFT};font-size:13px;line-height:20px;font-weight:400">${plain(hint)}</div></th>
<td class="line" align="right" valign="top" style="padding:10px 0 10px 16px;border-top:1px solid ${LINE};white-space:nowrap">${plain(amount)}</td></tr>
`;

const sumOf = ({ title, amount }: MailRow, index: number): Html =>
  html`<tr><th class="${index === 0 ? 'soft line' : 'soft'}" align="left" scope="row" style="padding:${index === 0 ? '10px' : '2px'} 0 2px;${index === 0 ? `border-top:1px solid ${LINE};` : ''}color:${SOFT};font-weight:400">${plain(title)}</th>
<td class="${index === 0 ? 'line' : ''}" align="right" style="padding:${index === 0 ? '10px' : '2px'} 0 2px 16px;${index === 0 ? `border-top:1px solid ${LINE};` : ''}white-space:nowrap">${plain(amount)}</td></tr>
`;

/** Names and what they stand for, below one another. */
export const facts = (rows: readonly (readonly [string, string])[]): Html =>
  html`<table class="ink" width="100%" cellpadding="0" cellspacing="0" style="margin:12px 0;color:${INK};font-size:15px;line-height:22px">
${rows.map(
  ([name, value]) =>
    html`<tr><th class="soft" align="left" valign="top" scope="row" style="padding:4px 16px 4px 0;color:${SOFT};font-weight:400;white-space:nowrap">${plain(name)}</th>
<td width="100%" style="padding:4px 0;word-break:break-word">${plain(value)}</td></tr>
`,
)}</table>
`;

/** The one button of a mail. */
export const button = (mark: string, label: string): Html =>
  html`<table role="presentation" width="100%" cellpadding="0" cellspacing="0"><tr><td align="center" style="padding:4px 0">
<a class="button" href="${mark}" style="display:block;padding:14px 20px;background:${ACCENT};border-radius:8px;color:#ffffff;font-size:16px;line-height:20px;font-weight:600;text-align:center;text-decoration:none">${plain(label)}</a></td></tr></table>
`;

/** A link that is not the mail's purpose. */
export const link = (mark: string, label: string): Html =>
  html`<p style="margin:4px 0 0;font-size:15px;line-height:22px"><a class="link" href="${mark}" style="color:${ACCENT}">${plain(label)}</a></p>
`;
