/**
 * The value of a record under a name from outside; undefined if it has none of its own. Every object inherits members
 * such as `constructor`, and `record[name]` finds them too.
 */
export const own = <Value>(record: Readonly<Record<string, Value>>, name: string): Value | undefined =>
  Object.hasOwn(record, name) ? record[name] : undefined;
