// Talks to the service that served the page, and to nobody else.

/** What the service said against a request: its own sentence, the feature that it is about and what may be meant. */
export class Refusal extends Error {
  /**
   * @param {string} message
   * @param {{status?: number, type?: string, feature?: string|null, suggestion?: Page.Value|null}} [about]
   */
  constructor(message, { status = 0, type = "", feature = null, suggestion = null } = {}) {
    super(message);
    this.status = status;
    this.type = type;
    this.feature = feature;
    this.suggestion = suggestion;
  }
}

/**
 * Ask the service.
 * @param {string} path relative to the page, so that a prefix does no harm
 * @param {{body?: Page.Body, signal?: AbortSignal}} [options]
 * @returns {Promise<any>} the caller says which reply it is
 */
export async function ask(path, { body, signal } = {}) {
  /** @type {Record<string, string>} */
  const headers = { Accept: "application/json" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const request = { method: body === undefined ? "GET" : "POST", headers, signal, body: body && JSON.stringify(body) };
  const answer = await fetch(path, request).catch((error) => {
    if (error.name === "AbortError") throw error;
    throw new Refusal("The service does not answer. Is it still running?");
  });
  const found = await answer.json().catch(() => null);
  if (!answer.ok) throw refusalOf(answer, found);
  if (found === null) throw new Refusal("The service gave an answer that cannot be read.", { status: answer.status });
  return found;
}

/**
 * @param {Response} answer
 * @param {Reply.Failure|null} found
 */
function refusalOf(answer, found) {
  const error = found?.error ?? {};
  const message = error.message ?? `The service answered with ${answer.status}.`;
  const { type, feature = null, suggestion = null } = error;
  return new Refusal(message, { status: answer.status, type, feature, suggestion });
}
