import type { Sql, Tx } from './connect.ts';

type Work = (tx: Tx) => unknown;
type Begin = (...given: unknown[]) => Promise<unknown>;

/** A statement came after the work of its transaction had returned or failed. */
export class TransactionOver extends Error {
  constructor() {
    super('the transaction of this statement is over');
    this.name = 'TransactionOver';
  }
}

/**
 * `begin` of the driver, whose transactions refuse statements once their work has ended. Of work done side by side one
 * part may fail while another goes on; the driver would send what that asks next on the same connection, and so in
 * somebody else's transaction.
 */
export function endedWithItsWork(begin: Sql['begin']): Sql['begin'] {
  return ((...given: unknown[]) => {
    const work = given.pop() as Work;
    return (begin as Begin)(...given, async (tx: Tx) => {
      let isOver = false;
      const demandOpen = () => {
        if (isOver) throw new TransactionOver();
      };
      const open = new Proxy(tx, {
        apply(target, self, values) {
          demandOpen();
          return Reflect.apply(target, self, values);
        },
        get(target, name) {
          if (name === 'unsafe') demandOpen();
          return Reflect.get(target, name);
        },
      });
      try {
        const result = work(open);
        return await (Array.isArray(result) ? Promise.all(result) : result);
      } finally {
        isOver = true;
      }
    });
  }) as Sql['begin'];
}
