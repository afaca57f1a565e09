// A program of a user of the API, with openapi-fetch and the types that openapi-typescript makes: it signs up, lists,
// pages, asks what fits and what a name means.
import createClient from "openapi-fetch";
import type { paths } from "./schema.js";

declare const process: { argv: string[] };
const baseUrl = process.argv[2];
const open = createClient<paths>({ baseUrl });
const signUp = await open.POST("/api/v1/keys", {
  body: { name: "a client", email: "grace@example.com", use_case: "trying the client" },
});
if (signUp.error) throw new Error(signUp.error.detail);
const client = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${signUp.data.data.key}` } });

let count = 0;
let cursor: string | undefined;
for (;;) {
  const page = await client.GET("/api/v1/models", { params: { query: { limit: 2, cursor } } });
  if (page.error) throw new Error(page.error.detail);
  for (const model of page.data.data) {
    count++;
    console.log("model", model.slug, model.family);
  }
  const next: string | null = page.data.links.next;
  if (next === null) {
    console.log("models", count, "of", page.data.meta.total);
    break;
  }
  cursor = new URL(next, baseUrl).searchParams.get("cursor") ?? undefined;
}

const cards = await client.GET("/api/v1/hardware", { params: { query: { vendor: ["nvidia"] } } });
if (cards.error) throw new Error(cards.error.detail);
console.log("hardware", cards.data.data[0].name);
const fits = await client.GET("/api/v1/fit", { params: { query: { model: "llama-2-7b", hardware: "nvidia-rtx-3090" } } });
if (fits.error) throw new Error(fits.error.detail);
console.log("fit", fits.data.data.model, fits.data.data.sizes[0].verdict);
const name = await client.GET("/api/v1/resolve", { params: { query: { q: "GeForce RTX 3090" } } });
if (name.error) throw new Error(name.error.detail);
console.log("name", name.data.data.slug);
const none = await client.GET("/api/v1/models/{slug}", { params: { path: { slug: "no-such-model" } } });
console.log("error", none.error?.code);
