// Asks everything that the API has, by a client that was made out of its file: everything.js SOCKET. Each call is one that the
// compiler has held against the file; what is newer than this program is asked at last, with made-up names. Prints one JSON line an
// answer: {"method", "path", "status", "type", "body", "made_up"}.
import http from "node:http";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import createClient from "openapi-fetch";
import type { paths } from "./schema.js";

const socketPath = process.argv[2] ?? "";

/** fetch() over the agent's unix socket. There are more orders here than the agent takes at once, and it says when to come back. */
async function overSocket(request: Request): Promise<Response> {
  const body = Buffer.from(await request.arrayBuffer());
  for (;;) {
    const answer = await ask(request, body);
    if (answer.status !== 429) return answer;
    await sleep(1000 * Number(answer.headers.get("retry-after")));
  }
}

async function ask(request: Request, body: Buffer): Promise<Response> {
  const url = new URL(request.url);
  const headers = Object.fromEntries(request.headers.entries());
  if (body.length > 0) headers["content-length"] = String(body.length);
  return new Promise((resolve, reject) => {
    const asked = http.request({ socketPath, method: request.method, path: url.pathname + url.search, headers, timeout: 5000 }, (got) => {
      const heads = Object.entries(got.headers).map(([name, value]): [string, string] => [name, String(value)]);
      resolve(new Response(Readable.toWeb(got) as ReadableStream, { status: got.statusCode ?? 0, headers: heads }));
    });
    asked.on("error", reject);
    asked.on("timeout", () => asked.destroy(new Error(`${request.method} ${request.url}: no answer`)));
    asked.end(body);
  });
}

const client = createClient<paths>({ baseUrl: "http://localhost", fetch: overSocket });

interface Got<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

const asked = new Set<string>();

/** Writes down what came back, and hands on its data. */
async function took<T>(method: string, path: string, call: Promise<Got<T>>, made_up = false): Promise<T> {
  const { data, error, response } = await call;
  const type = response.headers.get("content-type");
  asked.add(`${method} ${path}`);
  process.stdout.write(JSON.stringify({ method, path, status: response.status, type, body: data ?? error, made_up }) + "\n");
  return data as T;
}

const asText = { parseAs: "text" } as const;
await took("GET", "/livez", client.GET("/livez", { params: { query: { verbose: "" } }, ...asText }));
await took("GET", "/livez/{check}", client.GET("/livez/{check}", { params: { path: { check: "ping" } }, ...asText }));
await took("GET", "/readyz", client.GET("/readyz", { params: { query: { exclude: ["gone", "ovn-nb"] } }, ...asText }));
await took("GET", "/readyz/{check}", client.GET("/readyz/{check}", { params: { path: { check: "gone" } }, ...asText }));
await took("GET", "/liveness", client.GET("/liveness", asText));
await took("GET", "/readiness", client.GET("/readiness", asText));
await took("GET", "/metrics", client.GET("/metrics", asText));
await took("GET", "/", client.GET("/", asText));
await took("GET", "/page.js", client.GET("/page.js", asText));
await took("GET", "/page.css", client.GET("/page.css", asText));

const status = await took("GET", "/api/v1/status", client.GET("/api/v1/status"));
await took("GET", "/api/v1/whoami", client.GET("/api/v1/whoami"));
await took("GET", "/api/v1/members", client.GET("/api/v1/members"));
await took("GET", "/api/v1/findings", client.GET("/api/v1/findings"));
await took("GET", "/api/v1/checks", client.GET("/api/v1/checks"));
await took("GET", "/api/v1/meshes", client.GET("/api/v1/meshes"));
await took("GET", "/api/v1/clusters", client.GET("/api/v1/clusters"));
for (const { cluster } of status.clusters)
  await took("GET", "/api/v1/clusters/{name}", client.GET("/api/v1/clusters/{name}", { params: { path: { name: cluster } } }));

for (const { mesh } of status.meshes)
  await took("GET", "/api/v1/meshes/{name}", client.GET("/api/v1/meshes/{name}", { params: { path: { name: mesh } } }));

await took("GET", "/api/v1/reporters", client.GET("/api/v1/reporters"));
const worker = { params: { path: { name: "worker" } } };
await took("PUT", "/api/v1/reporters/{name}",
  client.PUT("/api/v1/reporters/{name}", { ...worker, body: { live: true, ready: false, detail: "warming up", timeout: "1m" } }));
await took("POST", "/api/v1/reporters/{name}", client.POST("/api/v1/reporters/{name}", { ...worker, body: { ready: true } }));

await took("GET", "/api/v1/history", client.GET("/api/v1/history", { params: { query: { since: "1h", limit: 10 } } }));
await took("GET", "/api/v1/samples", client.GET("/api/v1/samples", { params: { query: { subject: "gone", since: "1h" } } }));
const { incidents } = await took("GET", "/api/v1/incidents", client.GET("/api/v1/incidents", { params: { query: { all: "true" } } }));
for (const { id } of incidents.filter((one) => one.root === "check:gone")) {
  await took("GET", "/api/v1/incidents/{id}", client.GET("/api/v1/incidents/{id}", { params: { path: { id } } }));
  await took("POST", "/api/v1/incidents/{id}/ack",
    client.POST("/api/v1/incidents/{id}/ack", { params: { path: { id } }, body: { comment: "it is known" } }));
}

const silence = await took("POST", "/api/v1/silences",
  client.POST("/api/v1/silences", { body: { match: ["severity!=critical"], for: "1h", comment: "a test" } }));
await took("GET", "/api/v1/silences", client.GET("/api/v1/silences"));
await took("DELETE", "/api/v1/silences/{id}", client.DELETE("/api/v1/silences/{id}", { params: { path: { id: silence.id } } }));
await took("GET", "/api/v1/routes", client.GET("/api/v1/routes", { params: { query: { label: "root=check:gone" } } }));
const { receivers } = await took("GET", "/api/v1/receivers", client.GET("/api/v1/receivers"));
for (const { name } of receivers)
  await took("POST", "/api/v1/receivers/{name}/test", client.POST("/api/v1/receivers/{name}/test", { params: { path: { name } }, body: {} }));

await took("POST", "/api/v1/reload", client.POST("/api/v1/reload", { body: {} }));
await took("GET", "/debug/tasks", client.GET("/debug/tasks"));
await took("GET", "/debug/latency", client.GET("/debug/latency"));
await took("GET", "/debug/routes", client.GET("/debug/routes"));
await took("GET", "/debug/config", client.GET("/debug/config"));
const described = await took("GET", "/api/v1/openapi.json", client.GET("/api/v1/openapi.json"));

// The stream has no end: its head is enough here, and the beginning of what it says.
const { data: events, response } = await client.GET("/api/v1/events", { params: { query: { after: "" } }, parseAs: "stream" });
const reader = (events as ReadableStream<Uint8Array>).getReader();
const { value } = await reader.read();
await reader.cancel();
await took("GET", "/api/v1/events", Promise.resolve({ data: Buffer.from(value ?? []).toString(), response }));

const anything = client.request as unknown as (method: string, path: string, init: object) => Promise<Got<unknown>>;
for (const [path, item] of Object.entries((described as unknown as { paths: Record<string, object> }).paths)) {
  for (const method of Object.keys(item).map((one) => one.toUpperCase())) {
    if (!["GET", "PUT", "POST", "DELETE", "OPTIONS"].includes(method) || asked.has(`${method} ${path}`)) continue;
    const names = Object.fromEntries([...path.matchAll(/\{(\w+)\}/g)].map((name) => [name[1], "1"]));
    const body = method === "PUT" || method === "POST" ? { body: {} } : {};
    await took(method, path, anything(method.toLowerCase(), path, { params: { path: names }, ...body }), true);
  }
}
// A pipe takes 64 KiB at once, and the file is longer.
process.stdout.write(JSON.stringify({ described }) + "\n", () => process.exit(0));
