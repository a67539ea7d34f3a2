import { holds, tenantOfKey } from '../../platform/cells/cell-settings.ts';
import {
  type Cell,
  findPlace,
  type NotedPointer,
  noteLink,
  noteTenants,
  type Pointer,
} from '../../platform/cells/directory.ts';
import { realNowMs } from '../../platform/clock/real-clock.ts';
import type { Sql } from '../../platform/db/connect.ts';
import { within } from '../../platform/db/within.ts';
import type { Log } from '../../platform/log/log.ts';
import type { Doors } from './doors.ts';
import { CellAway } from './refusals.ts';

/** A known pointer is looked up again after this time; while the directory is away what is known holds. */
const KNOWN_MS = 60_000;
const UNKNOWN_MS = 5000;
/** How many are kept, some 100 bytes each; beyond it the oldest are dropped. */
const MOST_KNOWN = 200_000;
const MOST_UNKNOWN = 20_000;
const DIRECTORY_WITHIN_MS = 3000;
const CELL_WITHIN_MS = 3000;

interface Known {
  cell: string;
  freshUntilMs: number;
}

/**
 * In which cell what a pointer leads to is: from memory, else from the directory, else by asking every cell once, which
 * the directory then remembers. So a key that was made a moment ago is found at once.
 *
 * Rule: cells.md#directory.
 */
export class Places {
  readonly #deps: { control: Sql; doors: Doors; cells: () => readonly Cell[]; log: Log };
  readonly #known = new Map<string, Known>();
  readonly #unknown = new Map<string, number>();
  readonly #pending = new Map<string, Promise<string | undefined>>();

  constructor(deps: { control: Sql; doors: Doors; cells: () => readonly Cell[]; log: Log }) {
    this.#deps = deps;
  }

  /** From memory alone; null for a pointer that leads nowhere. */
  remembered(pointer: Pointer): string | null | undefined {
    const name = nameOf(pointer);
    const now = realNowMs();
    const known = this.#known.get(name);
    if (known && known.freshUntilMs > now) return known.cell;
    return (this.#unknown.get(name) ?? 0) > now ? null : undefined;
  }

  /**
   * Name of the cell; undefined when no cell has it.
   *
   * @throws CellAway when no cell that answers has it, and others are away
   */
  find(pointer: Pointer): Promise<string | undefined> {
    const name = nameOf(pointer);
    const pending = this.#pending.get(name) ?? this.#find(name, pointer).finally(() => this.#pending.delete(name));
    this.#pending.set(name, pending);
    return pending;
  }

  /** After a change of cells nothing that is remembered is sure. */
  forgetAll(): void {
    this.#known.clear();
    this.#unknown.clear();
  }

  async #find(name: string, pointer: Pointer): Promise<string | undefined> {
    const noted = await within(placeOf(this.#deps.control, pointer), DIRECTORY_WITHIN_MS).catch((error: Error) => {
      this.#deps.log.warn({ err: error.message }, 'the directory of cells does not answer');
      return this.#known.get(name)?.cell; // what was known holds
    });
    const cell = noted ?? (await this.#askCells(pointer));
    if (cell === undefined) keep(this.#unknown, name, realNowMs() + UNKNOWN_MS, MOST_UNKNOWN);
    else keep(this.#known, name, { cell, freshUntilMs: realNowMs() + KNOWN_MS }, MOST_KNOWN);
    return cell;
  }

  async #askCells(pointer: Pointer): Promise<string | undefined> {
    const away: string[] = [];
    const asked = this.#deps.cells().map(async (cell) => {
      try {
        return (await within(holds(this.#deps.doors.asking(cell), pointer), CELL_WITHIN_MS)) ? cell : undefined;
      } catch {
        away.push(cell.name); // it is named by who asks
        return undefined;
      }
    });
    const found = (await Promise.all(asked)).find((cell) => cell !== undefined);
    if (found) await this.#note(found, pointer).catch((error: Error) => this.#unnoted(error));
    else if (away.length > 0) throw new CellAway(away.sort());
    return found?.name;
  }

  async #note(cell: Cell, pointer: Pointer): Promise<void> {
    const { control, doors } = this.#deps;
    if (!isNoted(pointer)) return;
    if (pointer.kind === 'link') await within(noteLink(control, cell.name, pointer.id), DIRECTORY_WITHIN_MS);
    else {
      const ofKey = pointer.kind === 'key' ? await tenantOfKey(doors.asking(cell), pointer.digest) : undefined;
      const tenant = ofKey ?? (pointer.kind === 'organization' && { organizationId: pointer.id, digests: [] });
      if (tenant) await within(noteTenants(control, cell.name, [tenant]), DIRECTORY_WITHIN_MS);
    }
  }

  /** The cell was found all the same; the next process asks again. */
  #unnoted(error: Error): void {
    this.#deps.log.warn({ err: error.message }, 'the directory of cells does not note what was found');
  }
}

const nameOf = (pointer: Pointer): string =>
  'digest' in pointer ? `${pointer.kind}:${pointer.digest.toString('base64')}` : `${pointer.kind}:${pointer.id}`;

/** Sessions and codes live too short to be in the directory: the cells are asked. */
const isNoted = (pointer: Pointer): pointer is NotedPointer => pointer.kind !== 'session' && pointer.kind !== 'code';

const placeOf = async (control: Sql, pointer: Pointer): Promise<string | undefined> =>
  isNoted(pointer) ? findPlace(control, pointer) : undefined;

/** Puts an entry last, and drops the oldest one when there are too many. */
function keep<Value>(map: Map<string, Value>, key: string, value: Value, most: number): void {
  map.delete(key);
  if (map.size >= most) map.delete(map.keys().next().value!);
  map.set(key, value);
}
