import type { Request, Response } from 'express';
import { type Cell, connectControl } from '../../platform/cells/directory.ts';
import { watchCells } from '../../platform/cells/watched-cells.ts';
import type { Config } from '../../platform/config.ts';
import { createLog } from '../../platform/log/log.ts';
import { refuse } from '../../platform/refusal.ts';
import { headerName } from '../../platform/wire-prefix.ts';
import { emptyApp } from '../app.ts';
import { credentialOf } from '../console/session-routes.ts';
import { FairGate } from '../fair-gate.ts';
import { createHttpServer, stopListening } from '../http-server.ts';
import type { Door, DoorOptions } from '../open-door.ts';
import { addressOf as addressOfCaller, type EdgeLocals } from '../rate-limit.ts';
import { answerOfError } from '../refusals.ts';
import { requestIdOf } from '../request-id.ts';
import { send } from '../send-answer.ts';
import { addressOf, listen } from '../start-ingress.ts';
import { Doors } from './doors.ts';
import { Places } from './places.ts';
import { isSignIn, type Wanted, wantedBy, wantedByCredential } from './pointer-of.ts';
import { CellAway, cellDraining, unknownCell } from './refusals.ts';

/** How many keys of one address are looked for in all cells at the same time, and how many wait. */
const LOOKUPS_PER_ADDRESS = 4;
const WAITING_PER_ADDRESS = 1000;
const LOOKUP_WAITS_MS = 10_000;

const CELL_HEADER = 'X-Svc-Cell';
const READS = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * An ingress in front of every cell of the directory: it finds the cell of a request and hands it to that cell's door,
 * which treats it as if there were no other. Rule: cells.md#requests.
 */
export async function startCellsIngress(
  config: Config,
  { operations, limiterTimeoutMs, log = createLog({ level: config.LOG_LEVEL, process: 'ingress' }) }: DoorOptions,
): Promise<{ url: string; close(): Promise<void> }> {
  const control = connectControl(config);
  // Its prototypes are those of every request, whichever door answers it.
  const shell = emptyApp(config);
  const doors = new Doors({ config, operations, limiterTimeoutMs, log, shell });
  const cells = await watchCells({ control, config, log }, () => {
    places.forgetAll();
    doors.follow(cells.list());
  });
  const inUse = () => cells.list().filter(({ state }) => state !== 'drained');
  const places = new Places({ control, doors, cells: inUse, log });
  const lookups = new FairGate({
    perKey: LOOKUPS_PER_ADDRESS,
    waitingPerKey: WAITING_PER_ADDRESS,
    waitsMs: LOOKUP_WAITS_MS,
  });

  /** The first cell that can be reached, for what any of them answers. @throws CellAway */
  async function anyCell(): Promise<{ cell: Cell; door: Door }> {
    const away: string[] = [];
    const openFirst = [...inUse()].sort((a, b) => Number(doors.isOpen(b)) - Number(doors.isOpen(a)));
    for (const cell of openFirst) {
      const door = await doors.open(cell).catch(() => away.push(cell.name));
      if (typeof door !== 'number') return { cell, door };
    }
    if (away.length === 0) throw refuse.unavailable();
    throw new CellAway(away);
  }

  async function cellOf(request: Request, response: Response): Promise<string | undefined> {
    const wanted = await wantedOf(request, response);
    if (wanted.by === 'any') return undefined;
    if (wanted.by === 'name') return wanted.name ?? onlyCell();
    const known = places.remembered(wanted.pointer);
    if (known !== undefined) return known ?? undefined;
    return lookups.run(addressOfCaller(request), async () => {
      const first = await anyCell().catch(() => undefined);
      first?.door.limiters.refuseIfAddressIsOver(request, response);
      try {
        return await places.find(wanted.pointer);
      } catch (error) {
        // It may be nobody's: guesses cost their address as much as while every cell is there.
        if (error instanceof CellAway) await first?.door.limiters.address(request, response);
        throw error;
      }
    });
  }

  /** A body that is not as it should be is refused by whichever cell answers, as without cells. */
  async function wantedOf(request: Request, response: Response): Promise<Wanted> {
    if (!isSignIn(request)) return wantedBy(request, config);
    const credential = await credentialOf(request, response).catch(() => undefined);
    return credential === undefined ? { by: 'any' } : wantedByCredential(credential);
  }

  /** @throws Refusal 422, when the operator has to say which one */
  function onlyCell(): string | undefined {
    const names = cells.list().map(({ name }) => name);
    if (names.length > 1) throw refuse.invalid({ cell: ['value_is_mandatory'] });
    return names[0];
  }

  async function answer(request: Request, response: Response): Promise<void> {
    if (request.url === '/health') return send(response, { status: 200, text: '{"status":"ok"}' });
    if (request.url === '/ready') return send(response, await readiness());
    try {
      const name = await cellOf(request, response);
      const found = name === undefined ? (await anyCell()).cell : cells.find(name);
      if (!found) throw unknownCell();
      const { state, retry_after_seconds: seconds } = found;
      if (state === 'drained' || (state === 'draining' && !READS.has(request.method)))
        throw cellDraining(found.name, seconds);
      const door = await doors.open(found);
      response.setHeader(headerName(CELL_HEADER, config.WIRE_PREFIX), found.name);
      doors.pass(found, door, request, response);
    } catch (error) {
      const requestId = requestIdOf(request);
      response.setHeader('X-Request-Id', requestId);
      const { status, body, headers } = answerOfError(error, log, { requestId });
      send(response, { status, text: JSON.stringify(body), headers }, (response.locals as EdgeLocals).rate);
    }
  }

  /** Every cell with its state, and why one cannot be reached; 503 when none can. `?cell=` shows one of them. */
  async function readiness() {
    const shown = await Promise.all(
      cells.list().map(async (cell) => {
        const why = cell.state === 'drained' ? 'it is drained' : await doors.why(cell);
        return { name: cell.name, state: cell.state, reachable: why === undefined, ...(why ? { reason: why } : {}) };
      }),
    );
    const wanted = shown.filter(({ state }) => state !== 'drained');
    const reached = wanted.filter(({ reachable }) => reachable).length;
    const status = reached === 0 ? 'not ready' : reached < wanted.length ? 'degraded' : 'ready';
    return { status: reached === 0 ? 503 : 200, text: JSON.stringify({ status, cells: shown }) };
  }

  const server = createHttpServer(shell, (request, response) => {
    (response as Response).locals = Object.create(null) as Response['locals'];
    void answer(request as Request, response as Response);
  });
  await listen(server, config);
  return {
    url: addressOf(server, config),
    async close() {
      await stopListening(server);
      await cells.close();
      await doors.close();
      await control.end({ timeout: 1 });
    },
  };
}
