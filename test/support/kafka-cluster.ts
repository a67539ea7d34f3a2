import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';

/** Whether Debian's `kcat` is there; its library brings a cluster of mock brokers that nobody here wrote. */
export function hasKcat(): boolean {
  try {
    execFileSync('kcat', ['-V'], { stdio: 'ignore' });
    return true;
  } catch {
    console.warn('skipped: kcat is not installed (apt-get install kcat)');
    return false;
  }
}

interface Produced {
  /** Without one, spread over the partitions. */
  partition?: number;
  compression?: 'none' | 'gzip' | 'snappy' | 'lz4' | 'zstd';
  headers?: Record<string, string>;
  /** Messages with a key and a null value, for each of the values as key. */
  nulls?: boolean;
}

/** Brokers in one process, three unless told. Each topic has four partitions and is made by who first writes to it. */
export class KafkaCluster {
  readonly brokers: string[];
  readonly #process: ChildProcess;

  private constructor(process: ChildProcess, brokers: string[]) {
    this.#process = process;
    this.brokers = brokers;
  }

  static async start(count = 3): Promise<KafkaCluster> {
    const mock = ['-X', `test.mock.num.brokers=${count}`, '-d', 'mock'];
    const process = spawn('kcat', ['-P', '-b', 'none:1', '-t', 'seed', ...mock], {
      stdio: ['pipe', 'ignore', 'pipe'],
    });
    const brokers = await new Promise<string[]>((resolve, reject) => {
      let said = '';
      let isFound = false;
      // What it says of each request is read and left.
      process.stderr!.on('data', (text) => {
        if (isFound) return;
        said += text;
        const found = /bootstrap\.servers=(\S+)/.exec(said);
        if (!found) return;
        isFound = true;
        resolve(found[1]!.split(','));
      });
      process.once('exit', () => reject(new Error(`kcat ended: ${said}`)));
    });
    return new KafkaCluster(process, brokers);
  }

  /** Writes values, one a line. */
  async produce(topic: string, values: readonly string[], options: Produced = {}): Promise<void> {
    const { partition, compression = 'none', headers = {}, nulls = false } = options;
    const kcat = spawn(
      'kcat',
      [
        '-P',
        ...['-b', this.brokers.join(','), '-t', topic, '-z', compression, '-X', 'message.max.bytes=4000000'],
        // Each to any partition, not many in a row to one: a mock broker keeps the newest 5 MiB of each.
        ...['-X', 'sticky.partitioning.linger.ms=0'],
        ...(partition === undefined ? [] : ['-p', String(partition)]),
        ...Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}=${value}`]),
        ...(nulls ? ['-Z', '-K', ':'] : []),
      ],
      { stdio: ['pipe', 'ignore', 'inherit'] },
    );
    kcat.stdin.end(values.map((value) => (nulls ? `${value}:\n` : `${value}\n`)).join(''));
    const [code] = await once(kcat, 'exit');
    if (code !== 0) throw new Error(`kcat ended with ${code}`);
  }

  /** Everything in a topic, as kcat shows it. */
  async consume(topic: string): Promise<{ payload: string; headers: string[] }[]> {
    const kcat = spawn('kcat', ['-C', '-J', '-q', '-e', '-o', 'beginning', '-b', this.brokers.join(','), '-t', topic], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let text = '';
    kcat.stdout.on('data', (part) => {
      text += part;
    });
    await once(kcat, 'close');
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const gone = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await gone;
  }
}
