export interface HttpStatusFilter {
  ranges: { from: number; to: number }[];
  /** Failed without any status. */
  timeout: boolean;
}

const FORMS = /^(?:(?<one>\d{3})|(?<hundred>\d)xx|(?<from>\d{3})\s*-\s*(?<to>\d{3}))$/i;

/** Reads `200`, `5xx`, `200-204` and `timeout`; other texts match nothing (webhooks.md#delivery-log). */
export function httpStatusFilter(texts: readonly string[]): HttpStatusFilter {
  const trimmed = texts.map((text) => text.trim());
  return {
    timeout: trimmed.some((text) => text.toLowerCase() === 'timeout'),
    ranges: trimmed.flatMap((text) => {
      const form = FORMS.exec(text)?.groups;
      if (!form) return [];
      if (form.one) return [{ from: Number(form.one), to: Number(form.one) }];
      if (form.hundred) return [{ from: Number(form.hundred) * 100, to: Number(form.hundred) * 100 + 99 }];
      return [{ from: Number(form.from), to: Number(form.to) }];
    }),
  };
}
