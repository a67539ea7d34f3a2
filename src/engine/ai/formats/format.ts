import type { Kind } from '../kinds.ts';

/**
 * Where a value stands. A name in snake case is read in both spellings, one in camel case as it is; `.` leads into an
 * object; `details[modality=AUDIO].token_count` is the sum over the elements of a list whose member has that text;
 * `a + b` is the sum of what is there of both. In a flat format a path is one name, whatever it holds.
 */
export type Path = string;

/** A field of a usage object and the kind of its tokens. */
export interface FieldRow {
  /** The first that is present counts. */
  path: readonly Path[];
  kind: Kind;
  /** First path of the row whose number contains this one's; without it the number stands beside the others. */
  within?: Path;
  /** What another row counts of this one's number. */
  less?: Path;
}

/** A set of fields, for bodies that have the path `when`, or are sent with the option. */
interface Variant {
  when?: Path;
  option?: 'input_includes_cache';
  /** Flag of calls that are read by it. */
  flag?: string;
  fields: readonly FieldRow[];
}

/** True of a body or its usage object: all of the paths are there, with `path=text` as that text, none with `!`. */
export type Mark = readonly string[];

/** How a service's name, model, id and other facts are found in a body. */
export interface Names {
  id?: readonly Path[];
  model?: readonly Path[];
  provider?: readonly Path[];
  tier?: readonly Path[];
  /** What the producer believes that the call cost. */
  cost?: readonly Path[];
  /** True when a gateway answered from its cache. */
  cacheHit?: readonly Path[];
}

/**
 * How the usage that a producer reports becomes parts: data, read by one extraction. A released version is never
 * edited; a change is a new version. Rules: ai-usage.md#formats, ai-usage.md#versions.
 */
export interface Format {
  code: string;
  version: number;
  /** ISO text: from then on the service uses it. */
  from: string;
  /** Service whose format it is; null if a call must name it. */
  provider: string | null;
  /** By one of them a body is recognised. */
  marks: readonly Mark[];
  /** Whether marks of the bare usage object suffice to recognise a call that does not name its provider. */
  needsProvider?: true;
  /** Where the usage object stands in a body; "" is the body itself. */
  usage: readonly Path[];
  /** Objects in an event of a stream that hold the body; "" is the event itself. */
  stream: readonly Path[];
  /** Events of a stream carry parts of the usage, of which the last ones count. */
  isMerged?: true;
  /** Names hold dots, and only those below the prefix are fields of usage. */
  flatPrefix?: string;
  names: Names;
  /** The first that applies is used. */
  variants: readonly [Variant, ...Variant[]];
  /** The total of all tokens. */
  grand?: Path;
  /** Which tokens of the cache are audio: if present, no overlap is assumed. */
  cachedDetails?: Path;
  /** Elements of a list of the body that count, by the text of their `type`. */
  counts?: readonly { list: Path; type: string; kind: Kind }[];
  /** Calls that have no output total: embeddings, reranking. */
  completeWithout?: readonly Mark[];
  /** The producer failed; without usage there was no call. */
  failed?: Mark;
  /** Fields that are known and make no part. */
  also: readonly Path[];
}

/** Since the service has read usage of models. */
export const FIRST = '2026-01-01T00:00:00Z';
