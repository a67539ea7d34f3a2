import { isKeptNumber } from '../metrics/property-text.ts';
import type { Format } from './formats/format.ts';
import { isMember, type Member } from './read-path.ts';
import type { CallBody } from './usage-object.ts';

/** How many unknown fields are shown, and how many of them flagged. */
const MOST_SHOWN = 50;
const MOST_FLAGGED = 20;
/** How many fields of a usage object are looked at, and how deep: real ones have fewer than fifty. */
const MOST_READ = 500;
const DEEPEST = 4;
const NAME_MAX = 100;

export interface Unmapped {
  /** Numbers and booleans of unknown fields by their path; texts may be content and are left out. */
  shown: Record<string, number | boolean | string>;
  /** Paths of those that count something. */
  flagged: string[];
}

/**
 * Fields of a usage object that the format does not know: something new that may have a price. Lists are not looked
 * into, nor is a body that is a usage object among other things.
 */
export function unmappedFields(format: Format, { usage, isBare, body }: CallBody): Unmapped {
  const known = knownOf(format);
  if (isBare && isWhole(format, body)) return { shown: {}, flagged: [] };
  const shown = new Map<string, number | boolean | string>();
  const flagged = new Set<string>();
  let left = MOST_READ;
  const walk = (value: Member, path: string, depth: number): void => {
    const knownHere = known.within.get(path);
    for (const name of Object.keys(value)) {
      const inner = value[name];
      left -= 1;
      if (left < 0 || shown.size >= MOST_SHOWN) return;
      if (knownHere?.has(name)) continue; // nearly all are, which is found without making a path
      const at = path === '' ? snakeOf(name) : `${path}.${snakeOf(name)}`;
      if (format.flatPrefix !== undefined && !name.startsWith(format.flatPrefix)) continue;
      if (known.all.has(format.flatPrefix === undefined ? at : name)) continue;
      if (isMember(inner) && depth < DEEPEST) walk(inner, at, depth + 1);
      else if (typeof inner === 'number' || typeof inner === 'boolean' || isKeptNumber(inner)) {
        const shownAs = cleanName(format.flatPrefix === undefined ? at : name);
        shown.set(shownAs, isKeptNumber(inner) ? inner.value : inner);
        if (Number(isKeptNumber(inner) ? inner.value : inner) > 0 && typeof inner !== 'boolean') flagged.add(shownAs);
      }
    }
  };
  walk(usage, '', 1);
  if (shown.size === 0) return { shown: {}, flagged: [] };
  return { shown: Object.fromEntries(shown), flagged: [...flagged].slice(0, MOST_FLAGGED) };
}

/** A gateway's record has its totals among many other numbers. */
const isWhole = (format: Format, body: unknown): boolean =>
  format.names.cost !== undefined && isMember(body) && format.names.provider !== undefined;

interface Known {
  all: ReadonlySet<string>;
  /** Names by the path of their object; none of a flat format, whose names hold dots. */
  within: ReadonlyMap<string, ReadonlySet<string>>;
}
const knownByFormat = new WeakMap<Format, Known>();

function knownOf(format: Format): Known {
  let known = knownByFormat.get(format);
  if (!known) {
    const paths = format.variants.flatMap(({ fields }) =>
      fields.flatMap(({ path, less }) => [...path, ...(less === undefined ? [] : [less])]),
    );
    const all = [...paths, ...format.also, ...(format.grand === undefined ? [] : [format.grand])];
    const names = new Set(all.flatMap((path) => path.split(' + ')));
    known = { all: names, within: format.flatPrefix === undefined ? byObject(names) : new Map() };
    knownByFormat.set(format, known);
  }
  return known;
}

function byObject(paths: ReadonlySet<string>): Map<string, Set<string>> {
  const within = new Map<string, Set<string>>();
  for (const path of paths) {
    const dot = path.lastIndexOf('.');
    const object = path.slice(0, Math.max(dot, 0));
    within.set(object, (within.get(object) ?? new Set()).add(path.slice(dot + 1)));
  }
  return within;
}

const SNAKE = /^[a-z0-9_]*$/;

/** `inputTokenDetails` → `input_token_details` */
function snakeOf(name: string): string {
  if (name.length > NAME_MAX) return name.slice(0, NAME_MAX);
  return SNAKE.test(name) ? name : name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase();
}

/** A path as it stands in a flag, in which a comma ends it. */
const cleanName = (path: string): string => path.replace(/[^\w.-]/g, '_').slice(0, NAME_MAX);
