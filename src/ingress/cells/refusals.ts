import { Refusal, refuse } from '../../platform/refusal.ts';

/** A cell whose server cannot be reached: its callers get 503 with its name, those of other cells notice nothing. */
export class CellAway extends Refusal {
  constructor(names: readonly string[], cause?: unknown) {
    const [first, ...others] = names;
    super(503, {
      error: 'Service Unavailable',
      code: 'cell_unavailable',
      cell: first,
      ...(others.length > 0 ? { cells: names } : {}),
    });
    this.cause = cause;
  }
}

/** A write while its cell is drained, or any request once it is. */
export const cellDraining = (name: string, retryAfterSeconds: number): Refusal =>
  new Refusal(503, { error: 'Service Unavailable', code: 'cell_draining', cell: name }, [], {
    'Retry-After': String(retryAfterSeconds),
  });

export const unknownCell = (): Refusal => refuse.notFound('cell');
