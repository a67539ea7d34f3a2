import { isKeptNumber } from '../metrics/property-text.ts';
import { own } from '../own.ts';
import type { Mark, Path } from './formats/format.ts';

export type Member = Readonly<Record<string, unknown>>;

export const isMember = (value: unknown): value is Member =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !isKeptNumber(value);

/** A value and where it was found, in the names of the body. */
export interface Found {
  value: unknown;
  at: readonly (string | number)[];
}

interface Segment {
  /** Spellings of the name, the first that is there counts. */
  names: readonly string[];
  /** Of the elements of a list those whose member has the text. */
  only?: { names: readonly string[]; text: string };
}

const SELECTED = /^(\w+)\[(\w+)=(\w+)\]$/;
/** What the paths and marks of formats mean; they are constants, so this does not grow. */
const parsed = new Map<Path, readonly Segment[]>();
const tests = new Map<string, Test>();

/** `token_count` → `tokenCount`, in which other languages spell it. */
const camelOf = (name: string): string => name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

function spellingsOf(name: string): readonly string[] {
  const camel = camelOf(name);
  return camel === name ? [name] : [name, camel];
}

function segmentsOf(path: Path): readonly Segment[] {
  let segments = parsed.get(path);
  if (!segments) {
    segments = path.split('.').map((part) => {
      const selected = SELECTED.exec(part);
      if (!selected) return { names: spellingsOf(part) };
      const [, list, key, text] = selected;
      return { names: spellingsOf(list!), only: { names: spellingsOf(key!), text: text! } };
    });
    parsed.set(path, segments);
  }
  return segments;
}

/** Most names are not there, which reading the value says faster than asking whether it is the value's own. */
function nameIn(value: Member, names: readonly string[]): string | undefined {
  for (const name of names) {
    const inner = value[name];
    if (inner !== null && inner !== undefined && Object.hasOwn(value, name)) return name;
  }
  return undefined;
}

/**
 * All that stands at a path, null left out: one value, or those of several elements of a list. `""` is the value
 * itself.
 */
export function findAll(from: unknown, path: Path): Found[] {
  if (path === '') return [{ value: from, at: [] }];
  let found: Found[] = [{ value: from, at: [] }];
  for (const { names, only } of segmentsOf(path)) {
    const next: Found[] = [];
    for (const { value, at } of found) {
      const name = isMember(value) ? nameIn(value, names) : undefined;
      if (name === undefined) continue;
      const inner = (value as Member)[name];
      if (only === undefined) next.push({ value: inner, at: [...at, name] });
      else if (Array.isArray(inner))
        for (const [index, element] of inner.entries())
          if (textAt(element, only.names)?.toUpperCase() === only.text.toUpperCase())
            next.push({ value: element, at: [...at, name, index] });
    }
    found = next;
  }
  return found;
}

function textAt(value: unknown, names: readonly string[]): string | undefined {
  const name = isMember(value) ? nameIn(value, names) : undefined;
  const text = name === undefined ? undefined : (value as Member)[name];
  return typeof text === 'string' ? text : undefined;
}

/** Whether a path leads to one value at most, and not to elements of a list. */
export const isPlain = (path: Path): boolean => segmentsOf(path).every(({ only }) => only === undefined);

/** The value at a path, or undefined; `isFlat`: the path is one name. Of a list the first that fits. */
export function findOne(from: unknown, path: Path, isFlat = false): unknown {
  if (isFlat) return isMember(from) ? (own(from, path) ?? undefined) : undefined;
  if (path === '') return from;
  // Without places, which only errors need: this runs some sixty times for a call.
  let value = from;
  for (const { names, only } of segmentsOf(path)) {
    if (only !== undefined) return findAll(from, path)[0]?.value;
    const name = isMember(value) ? nameIn(value, names) : undefined;
    if (name === undefined) return undefined;
    value = (value as Member)[name];
  }
  return value;
}

/** A condition: what is at the place, or nothing, or this text. */
interface Test {
  place: Path;
  isNot: boolean;
  wanted: string | undefined;
}

function testOf(text: string): Test {
  let test = tests.get(text);
  if (!test) {
    const isNot = text.startsWith('!');
    const [place, wanted] = (isNot ? [text.slice(1)] : text.split('=')) as [string, string?];
    test = { place, isNot, wanted };
    tests.set(text, test);
  }
  return test;
}

/** The first text among paths; `path=text` gives that text if the value is it. Blank texts are none. */
export function firstText(from: unknown, paths: readonly Path[] = [], isFlat = false): string | undefined {
  for (const path of paths) {
    const { place, wanted } = testOf(path);
    const value = findOne(from, place, isFlat);
    if (typeof value === 'string' && value.trim() !== '' && (wanted === undefined || value === wanted)) return value;
  }
  return undefined;
}

/** Whether a mark is true of a value. */
export function bears(from: unknown, mark: Mark, isFlat = false): boolean {
  for (const each of mark) {
    const { place, isNot, wanted } = testOf(each);
    const value = findOne(from, place, isFlat && !isNot);
    if (isNot ? value !== undefined : wanted === undefined ? value === undefined : value !== wanted) return false;
  }
  return true;
}
