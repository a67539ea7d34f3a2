import { once } from 'node:events';
import { Cluster, type ClusterNode, type ClusterOptions } from 'ioredis';

type Options = Omit<ClusterOptions, 'redisOptions'> & {
  redisOptions?: NonNullable<ClusterOptions['redisOptions']> & { replyMapping?: 'legacy' };
};

/**
 * How long a cluster may take to say that it works, before another node is asked: a silent one takes the question and
 * never answers.
 */
const READY_WITHIN_MS = 5000;

/** Parts of the library's client that its types hide. */
interface Insides {
  handleCloseEvent(): void;
}

/**
 * The library's client of a cluster, mended where it is ended and opened again. A queue's worker does that with the
 * connection on which it waits for jobs, whenever an answer is overdue: while a master is lost. It waits for `end`,
 * which the library's client may never emit, and the worker then takes no job again and cannot be closed.
 *
 * Seen with ioredis 6.0.0 and bullmq 6.7.0: of 15 queues one to four stood still for good after a master was killed.
 * Rule: redis-cluster.md#a-lost-master.
 */
export class EndableCluster extends Cluster {
  readonly #nodes: ClusterNode[];

  constructor(nodes: ClusterNode[], options: Options) {
    super(nodes, options);
    this.#nodes = nodes;
    this.on('connect', () => {
      const timer = setTimeout(() => this.status === 'connect' && this.disconnect(true), READY_WITHIN_MS);
      timer.unref();
      this.once('ready', () => clearTimeout(timer)).once('close', () => clearTimeout(timer));
    });
  }

  /**
   * Opens it, once it has ended. The library's promise is kept by the first attempt only: where that finds a cluster
   * that chooses a master, a later one succeeds and nobody hears of it.
   */
  override async connect(): Promise<void> {
    if (this.status === 'disconnecting') await new Promise<void>((resolve) => this.once('close', () => resolve()));
    const listening = new AbortController();
    const { signal } = listening;
    try {
      await Promise.race([super.connect(), once(this, 'ready', { signal }), once(this, 'end', { signal })]);
    } finally {
      listening.abort();
    }
    if (this.status === 'end') throw new Error('Connection is closed.');
  }

  /** Ends it, also while it has no connection whose end could be told. */
  override disconnect(reconnect = false): void {
    const { status } = this;
    const hasNodes = this.nodes().length > 0;
    super.disconnect(reconnect);
    if (!hasNodes && status !== 'wait' && status !== 'disconnecting') (this as unknown as Insides).handleCloseEvent();
  }

  /** One of the same kind, which the library's own would not be. */
  override duplicate(nodes: ClusterNode[] = [], options: object = {}): never {
    const all = { ...this.options, ...options } as Options;
    return new EndableCluster(nodes.length > 0 ? nodes : this.#nodes, all) as never;
  }
}
