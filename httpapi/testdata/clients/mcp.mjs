// An agent with the official SDK for JavaScript: it lists the tools and calls each, over HTTP and over standard input and
// output. The SDK checks every answer against the schema of its tool.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [url, key, program, calls] = process.argv.slice(2);
const transports = {
  http: new StreamableHTTPClientTransport(new URL(url + "/mcp"), { requestInit: { headers: { Authorization: `Bearer ${key}` } } }),
  stdio: new StdioClientTransport({ command: program, args: ["mcp"] }),
};
for (const [name, transport] of Object.entries(transports)) {
  const client = new Client({ name: "test", version: "1" });
  await client.connect(transport);
  const { tools } = await client.listTools();
  console.log(name, "lists", tools.map((tool) => tool.name).join(" "));
  for (const call of JSON.parse(calls)) {
    const answer = await client.callTool(call);
    const links = answer.content.filter((part) => part.type === "resource_link").length;
    console.log(name, call.name, answer.isError ? answer.content[0].text : `answered with ${links > 0 ? "links" : "no link"}`);
  }
  await client.close();
}
