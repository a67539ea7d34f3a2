import type { Express, Request, Response } from 'express';
import { settingsOfCell, whyUnfit } from '../../platform/cells/cell-settings.ts';
import type { Cell } from '../../platform/cells/directory.ts';
import { realNowMs } from '../../platform/clock/real-clock.ts';
import type { Config } from '../../platform/config.ts';
import { connectDatabase, type Sql } from '../../platform/db/connect.ts';
import { within } from '../../platform/db/within.ts';
import type { Log } from '../../platform/log/log.ts';
import { type Door, type DoorOptions, openDoor } from '../open-door.ts';
import { CellAway } from './refusals.ts';

/** How often the server of an open cell is asked, and how long it may take. */
const ASK_EVERY_MS = 1000;
const ANSWER_WITHIN_MS = 2000;
/** A busy server may be late once. */
const LATE_IN_A_ROW = 2;
/** How long a request waits for its door; whoever comes later finds it open. */
const OPENED_WITHIN_MS = 10_000;
/** A door is closed when its last request was answered, at the latest after this time. */
const LAST_ANSWER_WITHIN_MS = 35_000;

interface Opened {
  /** The cell as it was when it was opened. */
  cell: Cell;
  /** One connection, by which the server is asked whether it is there, and in which cell a key is. */
  sql: Sql;
  door?: Door;
  opening?: Promise<Door> | undefined;
  /** Why the cell cannot be reached, since the last answer. */
  away?: string | undefined;
  retryAtMs: number;
  late: number;
  asking: NodeJS.Timeout;
  underWay: number;
}

type Deps = Pick<DoorOptions, 'operations' | 'limiterTimeoutMs'> & { config: Config; log: Log; shell: Express };

/**
 * The doors of the cells in this process: each with connections of its own, opened by the first request for it, closed
 * when the cell is drained or lies elsewhere. A cell whose server is away is told apart at once.
 */
export class Doors {
  readonly #deps: Deps;
  readonly #opened = new Map<string, Opened>();
  readonly #closing = new Set<Promise<void>>();

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /**
   * The door of a cell.
   *
   * @throws CellAway while its server cannot be reached, or its tables are of an older version
   */
  async open(cell: Cell): Promise<Door> {
    const opened = this.#found(cell);
    if (opened.away !== undefined && (opened.door || realNowMs() < opened.retryAtMs)) throw new CellAway([cell.name]);
    if (opened.door) return opened.door;
    opened.opening ??= this.#openFirst(opened);
    return within(opened.opening, OPENED_WITHIN_MS).catch((error: Error) => {
      throw error instanceof CellAway ? error : new CellAway([cell.name], error);
    });
  }

  /** The connection by which a cell can be asked beside its door. @throws CellAway */
  asking(cell: Cell): Sql {
    const opened = this.#found(cell);
    if (opened.away !== undefined && realNowMs() < opened.retryAtMs) throw new CellAway([cell.name]);
    return opened.sql;
  }

  /** Hands a request on; the door stays open until it is answered. */
  pass(cell: Cell, door: Door, request: Request, response: Response): void {
    const opened = this.#opened.get(cell.name);
    if (opened) {
      opened.underWay += 1;
      response.once('close', () => {
        opened.underWay -= 1;
      });
    }
    door.listener(request, response);
  }

  /** Whether a cell is reached, or why not; a cell that nobody asked for yet is asked now. */
  async why(cell: Cell): Promise<string | undefined> {
    try {
      const opened = this.#find(cell);
      if (!opened.door || opened.away !== undefined) await this.#ask(opened);
      return opened.away;
    } catch (error) {
      return (error as Error).message; // the settings lack its server
    }
  }

  /** Whether a cell has an open door, and its server answered last. */
  isOpen({ name }: Cell): boolean {
    const opened = this.#opened.get(name);
    return opened?.door !== undefined && opened.away === undefined;
  }

  /** Closes doors of cells that are drained, gone, or lie elsewhere than when they were opened. */
  follow(cells: readonly Cell[]): void {
    for (const [name, opened] of this.#opened) {
      const now = cells.find((cell) => cell.name === name);
      if (now && now.state !== 'drained' && isSamePlace(now, opened.cell)) continue;
      this.#opened.delete(name);
      const closing = this.#close(opened).finally(() => this.#closing.delete(closing));
      this.#closing.add(closing);
    }
  }

  async close(): Promise<void> {
    this.follow([]);
    await Promise.all(this.#closing);
  }

  #found(cell: Cell): Opened {
    try {
      return this.#find(cell);
    } catch (error) {
      throw new CellAway([cell.name], error);
    }
  }

  /** @throws ConfigError when the settings lack its server */
  #find(cell: Cell): Opened {
    const known = this.#opened.get(cell.name);
    if (known) return known;
    const settings = settingsOfCell(this.#deps.config, cell);
    const sql = connectDatabase(settings.DATABASE_URL, {
      schema: settings.DATABASE_SCHEMA,
      connections: 1,
      name: 'meterstone cells',
    });
    const opened: Opened = {
      cell,
      sql,
      retryAtMs: 0,
      late: 0,
      underWay: 0,
      asking: setInterval(() => void (opened.door && this.#ask(opened)), ASK_EVERY_MS),
    };
    this.#opened.set(cell.name, opened);
    return opened;
  }

  async #openFirst(opened: Opened): Promise<Door> {
    const { config, shell, log, ...options } = this.#deps;
    const { cell } = opened;
    try {
      await this.#ask(opened);
      if (opened.away !== undefined) throw new CellAway([cell.name]);
      const own = log.child({ cell: cell.name });
      const door = await openDoor(settingsOfCell(config, cell), { ...options, log: own, cell: cell.name });
      // All doors share the prototypes with which the server makes requests, so that none is made over.
      door.app.request = shell.request;
      door.app.response = shell.response;
      opened.door = door;
      return door;
    } catch (error) {
      if (!(error instanceof CellAway)) log.error({ cell: cell.name, err: error }, 'a cell could not be opened');
      this.#isAway(opened, (error as Error).message);
      throw error;
    } finally {
      opened.opening = undefined;
    }
  }

  /** Asks the server of a cell whether it is there, and whether its tables are those of this program. */
  async #ask(opened: Opened): Promise<void> {
    try {
      const why = await within(whyUnfit(opened.sql), ANSWER_WITHIN_MS);
      opened.late = 0;
      if (why !== undefined) return this.#isAway(opened, why);
      if (opened.away !== undefined && opened.door) this.#deps.log.info({ cell: opened.cell.name }, 'a cell answers');
      opened.away = undefined;
    } catch (error) {
      opened.late += 1;
      const isLate = (error as { code?: unknown }).code === undefined;
      if (!isLate || !opened.door || opened.late >= LATE_IN_A_ROW) this.#isAway(opened, (error as Error).message);
    }
  }

  #isAway(opened: Opened, why: string): void {
    if (opened.away === undefined) this.#deps.log.error({ cell: opened.cell.name, why }, 'a cell is away');
    opened.away ??= why;
    opened.retryAtMs = realNowMs() + ASK_EVERY_MS;
  }

  async #close(opened: Opened): Promise<void> {
    clearInterval(opened.asking);
    const door = opened.door ?? (await opened.opening?.catch(() => undefined));
    const untilMs = realNowMs() + LAST_ANSWER_WITHIN_MS;
    while (opened.underWay > 0 && realNowMs() < untilMs) await new Promise((resolve) => setTimeout(resolve, 100));
    await door?.close();
    await opened.sql.end({ timeout: 1 });
  }
}

const isSamePlace = (a: Cell, b: Cell): boolean =>
  a.database === b.database && a.schema === b.schema && a.redis_prefix === b.redis_prefix;
