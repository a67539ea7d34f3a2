/** Names and indexes from the content of a body, or from a query, down to a value. */
export type Path = readonly (string | number)[];

/** Where in an input a code of a field was found. */
export interface FoundPlace {
  /** Key of `error_details` under which the code stands. */
  field: string;
  code: string;
  path: Path;
  /** The place is in the query, not in the body. */
  isQuery?: boolean;
  /** The values that would have been taken. */
  allowed?: readonly unknown[];
  /** Why the value is refused, in words, where its code has several causes. */
  reason?: string;
}

const found = new WeakMap<object, FoundPlace[]>();

/**
 * The places of codes that are gathered under one field each, as `error_details` has them: beside the codes, since
 * their form is that of the interface.
 */
export const placesOf = (faults: object): readonly FoundPlace[] => found.get(faults) ?? [];

export function notePlaces(faults: object, places: readonly FoundPlace[]): void {
  found.set(faults, [...placesOf(faults), ...places]);
}
