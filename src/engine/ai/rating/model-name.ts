/** A model as calls or prices name it. */
export interface ModelName {
  provider: string;
  model: string;
}

export type NameFlag = 'model_without_date' | 'model_unknown';

/** A date at the end of a name: `-2026-01-31` or `-20260131`. */
const DATE_SUFFIX = /-(?:\d{4}-\d{2}-\d{2}|\d{8})$/;

/** The name without its date; null if it has none. */
export function undatedName(model: string): string | null {
  const name = model.replace(DATE_SUFFIX, '');
  return name === model || name === '' ? null : name;
}

/**
 * The name under which the book has the prices of a model: its own; else that of its alias; else the one without a
 * date. Nothing else is guessed.
 *
 *   alpha-2026-01-31 → alpha with the flag model_without_date; alpha-mini → itself, model_unknown (PB10)
 *
 * alias    the model that the alias with the longest pattern names
 * isKnown  whether the book has prices of a model
 *
 * Rule: price-book.md#names.
 */
export function bookedName(
  asked: ModelName,
  alias: ModelName | undefined,
  isKnown: (name: ModelName) => boolean,
): ModelName & { flag: NameFlag | null } {
  if (isKnown(asked)) return { ...asked, flag: null };
  if (alias) return { ...alias, flag: isKnown(alias) ? null : 'model_unknown' };
  const model = undatedName(asked.model);
  if (model !== null && isKnown({ provider: asked.provider, model }))
    return { provider: asked.provider, model, flag: 'model_without_date' };
  return { ...asked, flag: 'model_unknown' };
}
