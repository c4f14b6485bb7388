// A service of which every answer says whose it is and comes when it likes, and hands that never wait for it.
// `race.run(seed)` plays one interleaving; whatever stands beside the wrong name is in `race.mixes`.
(() => {
  const real = window.fetch.bind(window);
  const race = (window.race = { on: false, people: [], mixes: [], looks: 0, flying: 0, entered: null, seed: 1 });

  race.random = () => {
    race.seed = (race.seed + 0x6d2b79f5) | 0; // mulberry32
    let t = Math.imul(race.seed ^ (race.seed >>> 15), 1 | race.seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const pick = (some) => some[Math.floor(race.random() * some.length)];
  const pause = (most) => new Promise((done) => setTimeout(done, race.random() * most));
  const seal = (words, id) => `${words}⟦${id}⟧`;

  // Whatever a view says in words carries the number of the person it is about.
  const sealed = (value, id, key = "") => {
    if (typeof value === "string") return /(_text|^text|^reason|^sentence|^step)$/.test(key) ? seal(value, id) : value;
    if (Array.isArray(value)) {
      const words = ["notices", "cautions", "closing"].includes(key);
      return value.map((one) => (words ? seal(one, id) : sealed(one, id, key)));
    }
    if (value === null || typeof value !== "object") return value;
    if (key === "record" || key === "person") return value;
    const inside = key === "text" ? "text" : null; // the values of a state, by feature
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, sealed(one, id, inside ?? name)]));
  };
  const viewOf = (person) => {
    const view = sealed(person.view, person.id);
    for (const one of [...view.states, ...view.path]) Object.assign(one.record, person.marks);
    Object.assign(view.person, person.marks);
    return view;
  };
  const whom = (body) => race.people.find((one) => one.id === (body.id ?? body.person.los));
  const replyTo = (path, body) => {
    if (path.startsWith("people?")) {
      const people = race.people.map(({ id }) => lineOf(id));
      return { total: people.length, offset: 0, people };
    }
    if (path.startsWith("people/")) {
      const person = race.people.find((one) => one.id === Number(path.slice(7)));
      return { ...lineOf(person.id), record: { ...person.record, ...person.marks } };
    }
    const person = whom(body);
    if (path === "effects") return effectsOf(person);
    if (path === "scores") return { scores: [{ score: 0.3, score_text: seal("0.3", person.id), reached: false }] };
    if (path === "check") return { ...sealed(race.check, person.id), view: null };
    const view = viewOf(person);
    view.cut_short = body.max_seconds !== undefined && race.random() < 0.5; // while something moves
    const several = body.n_paths > 1;
    const together = several ? { shared: [], parts: seal("parts", person.id), sentence: "", disclosure: "" } : null;
    return { cautions: [], view, alternatives: several ? [view] : [], together, stages: null, document: {} };
  };
  const effectsOf = (person) => ({ ...sealed(race.effects, person.id), alike: [seal("age", person.id)] });
  const lineOf = (id) => ({ id, label: `person ${id}`, score: 0.1, score_text: seal("0.1", id), outcome: null, gist: "" });

  window.fetch = async (url, options = {}) => {
    const path = String(url);
    if (!race.on || !/^(people|recourse|check|effects|scores)/.test(path)) return real(url, options);
    const body = options.body ? JSON.parse(options.body) : {};
    race.flying += 1;
    try {
      await pause(30);
      const given_up = options.signal?.aborted;
      // Half of what is given up comes all the same, as it does when it was on the wire already.
      if (given_up && race.random() < 0.5) throw new DOMException("given up", "AbortError");
      const fails = /^(recourse|check)/.test(path) && race.random() < 0.1;
      const failure = { error: { type: "Busy", message: seal("busy", fails ? whom(body).id : 0) } };
      return new Response(JSON.stringify(fails ? failure : replyTo(path, body)), { status: fails ? 503 : 200 });
    } finally {
      race.flying -= 1;
    }
  };

  // Looks at the page after every change of it, before anybody could see it.
  const ownerOf = (who) => (who === "The record entered" ? race.entered : Number(who.match(/^Person (\d+)/)?.[1] ?? 0));
  race.look = () => {
    race.looks += 1;
    const who = document.querySelector("#who").textContent;
    const owner = ownerOf(who);
    const mixed = (what, found) => race.mixes.push(`${what} of ${found} beside ${who} (${owner})`);
    for (const part of ["main", "#constraints", "#live"]) {
      for (const [, id] of document.querySelector(part).textContent.matchAll(/⟦(\d+)⟧/g)) {
        if (Number(id) !== owner) mixed(part, id);
      }
    }
    const marks = race.people.find((one) => one.id === owner)?.marks;
    for (const row of document.querySelectorAll("#limits .limit, #panel-whynot .limit")) {
      const name = row.dataset.feature ?? row.querySelector(".name").title;
      if (!(name in race.people[0].marks)) continue;
      const value = parseFloat(row.querySelector(".own-value, .wish-value").textContent);
      if (value !== marks?.[name]) mixed(`${name} ${value}`, "somebody else");
    }
    const printed = document.querySelector(".report-title")?.textContent.match(/person (\d+)$/);
    if (printed && Number(printed[1]) !== owner) mixed("print", printed[1]);
    const link = new URLSearchParams(location.hash.slice(1)).get("id");
    if (owner && race.settled && link && Number(link) !== owner) mixed("address", link);
  };
  new MutationObserver(() => race.on && race.look()).observe(document, {
    subtree: true,
    childList: true,
    characterData: true,
    attributes: true,
  });

  // A step back may lead to a record that was entered before; heard of before the page hears of it.
  addEventListener("popstate", () => {
    const record = new URLSearchParams(location.hash.slice(1)).get("record");
    if (race.on && record) race.entered = JSON.parse(record).los;
  });

  const press = (selector) => pick([...document.querySelectorAll(selector)].filter((one) => one.offsetParent))?.click();
  const slide = (selector) => {
    const input = pick([...document.querySelectorAll(selector)].filter((one) => !one.disabled));
    if (!input) return;
    input.value = String(Number(input.min) + race.random() * (input.max - input.min));
    input.dispatchEvent(new Event("input", { bubbles: true }));
  };
  const paste = (text) => {
    const place = document.querySelector("#paste");
    place.value = text;
    place.dispatchEvent(new Event("input", { bubbles: true }));
  };
  const hands = {
    choose: () => press(".person"),
    chooseAgain: () => press(".person"),
    goal: () => slide("#goal, #floor"),
    range: () => slide("#limits .range input"),
    pin: () => press("#limits .toggle"),
    tab: () => press("#answer-tabs [role=tab]"),
    wish: () => slide("#panel-whynot .range input"),
    whatIf: () => (document.querySelector("#tab-whynot").click(), slide("#panel-whynot .range input")),
    other: () => press("#panel-ways .use button"),
    back: () => {
      if (!location.hash || race.leaving) return; // before the first person is another page
      race.leaving = true;
      addEventListener("popstate", () => (race.leaving = false), { once: true });
      history.back();
    },
    forward: () => history.forward(),
    print: () => dispatchEvent(new Event("beforeprint")),
    carry: () => press("#carry button, #force .lift"),
    paste: () => {
      const person = pick(race.people);
      race.entered = person.id;
      paste(JSON.stringify({ ...person.record, los: person.id }));
    },
    broken: () => paste(pick(["{", "nothing to read", JSON.stringify({ age: 50 })])),
    alter: () => race.people.some((one) => one.id === race.entered) && slide("#goal"),
  };

  race.run = async (seed) => {
    race.seed = seed * 7919 + 1;
    race.settled = false;
    for (let i = 0; i < 8; i += 1) {
      hands[pick(Object.keys(hands))]();
      race.look();
      await pause(pick([0, 4, 25]));
    }
    hands.choose();
    await pause(20);
    for (let i = 0; i < 400 && (race.flying || document.querySelector(".is-waiting")); i += 1) await pause(8);
    race.settled = true;
    race.look();
    const words = document.querySelector("main").textContent;
    const chosen = ownerOf(document.querySelector("#who").textContent); // a step back may come after the choice
    if (chosen && !words.includes(`⟦${chosen}⟧`)) race.mixes.push(`nothing of ${chosen} on the page at the end (seed ${seed})`);
  };
})();
