/** A broken assumption of our own code: never the caller's fault, and never caught on the way up. */
export class Defect extends Error {
  override name = 'Defect';
}

/** Throws a `Defect` with `sentence`, which states what should have been true. */
export function assert(condition: unknown, sentence: string): asserts condition {
  if (!condition) throw new Defect(sentence);
}
