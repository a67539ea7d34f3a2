/** Text that is HTML already: made by `html` only. */
export interface Html {
  readonly html: string;
}

type Value = string | Html | false | null | undefined | readonly Value[];

/** HTML of a template: inserted values are escaped unless they are HTML; false, null and undefined print nothing. */
export const html = (texts: TemplateStringsArray, ...values: readonly Value[]): Html => ({
  html: texts.map((text, n) => text + written(values[n])).join(''),
});

function written(value: Value): string {
  if (value === false || value === null || value === undefined) return '';
  if (typeof value === 'string') return value.replace(/[&<>"']/g, (sign) => ESCAPED[sign]!);
  return 'html' in value ? value.html : value.map(written).join('');
}

const ESCAPED: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
