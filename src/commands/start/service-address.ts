import type { Config } from '../../platform/config.ts';
import { localUrl, publicUrl } from '../../platform/public-url.ts';
import { choosePort, isPortFree } from '../../platform/services/ports.ts';

export interface Addresses {
  port: number;
  /** The base URL of the API. */
  api: string;
  /** Without a path. */
  root: string;
  docs: string;
  queues: string;
  /** Called by the launcher itself, never through a proxy. */
  ready: string;
}

/** How many ports are tried one after the other if none was requested. */
const NEXT_PORTS = 20;

/**
 * The port of the ingress: PORT if it is set and not 0, else the default one or the next free port.
 *
 * @throws Error when the requested port is taken
 */
export async function choosePublicPort(config: Config, say: (line: string) => void): Promise<number> {
  const { PORT: wanted, HOST: host } = config;
  if (wanted === 0) return choosePort(undefined, host);
  if (await isPortFree(wanted, host)) return wanted;

  if (process.env.PORT) throw new Error(`port ${wanted} is taken by another program: set PORT to another one`);
  for (let port = wanted + 1; port <= wanted + NEXT_PORTS; port += 1) {
    if (!(await isPortFree(port, host))) continue;
    say(`port ${wanted} is taken by another program, so this one listens on ${port}`);
    return port;
  }
  return choosePort(undefined, host);
}

export function addressesOf(config: Config, port: number): Addresses {
  const local = localUrl(config.HOST, port);
  const root = publicUrl({ ...config, PORT: port });
  return { port, root, api: `${root}/api/v1`, docs: `${root}/docs`, queues: `${root}/queues`, ready: `${local}/ready` };
}
