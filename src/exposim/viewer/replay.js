"use strict";
// Plays the scene in this page: camera, light and controls around Meshcat's viewer.
// Meshcat's scene has z up; its camera and orbit controls have y up.
const settings = JSON.parse(document.getElementById("settings").textContent);
const element = (id) => document.getElementById(id);
const viewer = new MeshCat.Viewer(element("pane"));
const THREE = MeshCat.THREE;
const yUp = ([x, y, z]) => new THREE.Vector3(x, z, -y);
const path = (text) => text.split("/").filter((part) => part.length > 0);
viewer.gui.domElement.style.display = "none";

async function loadScene() {
  const packed = Uint8Array.from(atob(element("scene").textContent), (c) => c.charCodeAt(0));
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const bytes = new Uint8Array(await new Response(unpacked).arrayBuffer());
  const view = new DataView(bytes.buffer);
  for (let at = 0; at < bytes.length; ) {
    const size = view.getUint32(at, true);
    viewer.handle_command_bytearray(bytes.slice(at + 4, at + 4 + size));
    at += 4 + size;
  }
  // Ground would speckle itself with shadows where the light grazes it.
  viewer.scene_tree.find(path(settings.terrain)).object.traverse((part) => (part.castShadow = false));
  for (const [from, to] of settings.copies) {
    const first = viewer.scene_tree.find(path(from).concat("<object>")).object;
    viewer.set_object(path(to), first.clone());
  }
}

// Light from above that travels with the robot, so that it always has a shadow.
function addSun() {
  const sun = new THREE.DirectionalLight(0xffffff, 0.42);
  const reach = settings.shade;
  Object.assign(sun.shadow.camera, { left: -reach, right: reach, top: reach, bottom: -reach, near: 0.01, far: 8 * reach });
  sun.shadow.mapSize.set(2048, 2048);
  sun.shadow.bias = -0.0005;
  sun.shadow.normalBias = 0.004 * settings.size;
  sun.castShadow = true;
  viewer.scene.add(sun, sun.target);
  return sun;
}

const replay = (window.replay = {
  viewer,
  ready: false,
  playing: false,
  time: 0, // since the start of the recording [s]
  duration: settings.duration,

  seek(time) {
    this.time = Math.min(Math.max(time, 0), this.duration);
    viewer.animator.seek(this.time);
    const focus = this.focus();
    this.sun.target.position.copy(focus);
    this.sun.position.copy(focus).add(new THREE.Vector3(0.6, -0.35, 2.2).multiplyScalar(1.3 * settings.shade));
    if (element("follow").checked) {
      const moved = yUp(focus.clone().sub(this.lastFocus).toArray());
      viewer.camera.position.add(moved);
      viewer.controls.target.add(moved);
    }
    this.lastFocus = focus;
    element("time").value = this.time;
    const end = settings.start + this.duration;
    element("clock").textContent = `${(settings.start + this.time).toFixed(3)} / ${end.toFixed(3)} s`;
    viewer.set_dirty();
  },

  // Where the robot is, smoothly.
  focus() {
    return viewer.scene_tree.find(path(settings.focus)).object.position.clone();
  },

  play() {
    if (this.time >= this.duration) this.seek(0);
    this.playing = true;
    element("play").textContent = "❚❚";
    let last = performance.now();
    const step = (now) => {
      if (!this.playing) return;
      this.seek(this.time + ((now - last) / 1000) * Number(element("speed").value));
      last = now;
      if (this.time >= this.duration) this.pause();
      else requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  },

  pause() {
    this.playing = false;
    element("play").textContent = "▶";
  },

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  },

  resetView() {
    const camera = viewer.camera;
    const narrow = Math.min(1, window.innerWidth / window.innerHeight / 1.2);
    const target = this.focus().add(new THREE.Vector3(...settings.offset));
    camera.fov = settings.fieldOfView;
    camera.near = 0.01 * settings.size;
    viewer.controls.target.copy(yUp(target.toArray()));
    camera.position.copy(yUp(settings.view)).multiplyScalar(settings.distance / narrow).add(viewer.controls.target);
    camera.updateProjectionMatrix();
    viewer.set_dirty();
  },
});

function connectControls() {
  element("legend").innerHTML = settings.legend
    .map(({ colour, text }) => `<span>${colour ? `<i style="background:${colour}"></i>` : ""}${text}</span>`)
    .join("");
  element("time").max = settings.duration;
  element("time").addEventListener("input", (event) => {
    replay.pause();
    replay.seek(Number(event.target.value));
  });
  element("play").addEventListener("click", () => replay.toggle());
  element("reset").addEventListener("click", () => replay.resetView());
  document.addEventListener("keydown", (event) => {
    if (event.target.tagName === "SELECT") return;
    const step = { ArrowLeft: -0.02, ArrowRight: 0.02 }[event.key];
    if (event.key === " ") replay.toggle();
    else if (step) {
      replay.pause();
      replay.seek(replay.time + step);
    } else return;
    event.preventDefault();
  });
  element("play").disabled = element("time").disabled = false;
}

loadScene().then(() => {
  viewer.animator.play(); // makes the tracks take effect; the time is ours
  viewer.animator.pause();
  replay.sun = addSun();
  replay.lastFocus = replay.focus();
  connectControls();
  const opened = new URLSearchParams(location.hash.slice(1));
  replay.seek(Number(opened.get("t") ?? 0));
  replay.resetView();
  replay.ready = true;
  if (!opened.has("t")) replay.play();
});
