/** Another name of a model: exact, or with one `*` at its end. */
export interface ModelAlias {
  provider: string;
  pattern: string;
  /** Null: the provider stays. */
  target_provider: string | null;
  target_model: string;
}

export interface ModelName {
  provider: string;
  model: string;
}

/** A date at the end of a name: `-2026-01-31` or `-20260131`. */
const DATE_SUFFIX = /-(?:\d{4}-\d{2}-\d{2}|\d{8})$/;

/** The name without its date; null if it has none. */
export function undatedName(model: string): string | null {
  const name = model.replace(DATE_SUFFIX, '');
  return name === model || name === '' ? null : name;
}

/**
 * The name under which the book has the prices of a model: its own; else that of the alias with the longest pattern;
 * else the one without a date. Nothing else is guessed.
 *
 *   alpha-2026-01-31 → alpha with the flag model_without_date; alpha-mini → itself, model_unknown (PB10)
 *
 * isKnown  whether the book has prices of a model
 *
 * Rule: price-book.md#names.
 */
export function bookedName(
  { provider, model }: ModelName,
  aliases: readonly ModelAlias[],
  isKnown: (name: ModelName) => boolean,
): ModelName & { flag: 'model_without_date' | 'model_unknown' | null } {
  if (isKnown({ provider, model })) return { provider, model, flag: null };
  const alias = longestMatch(provider, model, aliases);
  if (alias) {
    const target = { provider: alias.target_provider ?? provider, model: alias.target_model };
    return { ...target, flag: isKnown(target) ? null : 'model_unknown' };
  }
  const undated = undatedName(model);
  if (undated !== null && isKnown({ provider, model: undated }))
    return { provider, model: undated, flag: 'model_without_date' };
  return { provider, model, flag: 'model_unknown' };
}

/** The alias that takes a name; an exact pattern is longer than one of the same letters with a `*`. */
function longestMatch(provider: string, model: string, aliases: readonly ModelAlias[]): ModelAlias | undefined {
  let best: ModelAlias | undefined;
  for (const alias of aliases) {
    if (alias.provider !== provider || !matches(alias.pattern, model)) continue;
    if (!best || lengthOf(alias.pattern) > lengthOf(best.pattern)) best = alias;
  }
  return best;
}

const matches = (pattern: string, model: string): boolean =>
  pattern.endsWith('*') ? model.startsWith(pattern.slice(0, -1)) : model === pattern;

const lengthOf = (pattern: string): number => (pattern.endsWith('*') ? pattern.length - 1 : Number.POSITIVE_INFINITY);
