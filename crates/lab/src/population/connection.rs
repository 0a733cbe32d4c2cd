//! One connection of a population in one arm: simulated alone, counted in integers.

use tcplab_plan::population::Population;
use tcplab_plan::profile::Profile;
use tcplab_plan::{Point, profile};
use tcplab_sim::{Response, World};

use super::rowfile::{Column, Seen, columns, put};
use super::sums::Sums;
use crate::error::LabError;

/// The hosts of a point, in the order of [`Population::point`].
const SERVER: usize = 0;

/// Runs connections of a population, one after another, in one thread.
#[derive(Debug)]
pub(crate) struct Runner<'a> {
    population: &'a Population,
    /// Profile of the server in each arm.
    servers: Vec<Profile>,
    /// Profile of each kind of client.
    clients: Vec<Profile>,
    world: Option<World>,
    /// What the current connection's responses took in the baseline.
    baseline: Vec<Response>,
    /// How much longer those took in each arm that finished in both, in microseconds.
    longer: Vec<i64>,
    columns: Vec<Column>,
    /// TCP packets so far.
    pub(crate) packets: u64,
}

impl<'a> Runner<'a> {
    pub(crate) fn new(population: &'a Population, stack: &Profile) -> Result<Self, LabError> {
        let mut profiles = Vec::new();
        let fitting = |mut profile: Profile| {
            profile.hz = population.hz;
            profile
        };
        for arm in &population.arms {
            let profile = stack.of_host(arm);
            profiles.push(fitting(
                profile.map_err(|e| LabError::Point(e.to_string()))?,
            ));
        }
        let mut clients = Vec::new();
        for kind in &population.clients {
            let base = match &kind.profile {
                Some(name) => profile::named(name)
                    .ok_or_else(|| LabError::Point(format!("no profile `{name}`")))?,
                None => stack.clone(),
            };
            let mut profile = base;
            for (name, value) in &kind.behaviour {
                profile
                    .set(name, value)
                    .map_err(|e| LabError::Point(e.to_string()))?;
            }
            clients.push(fitting(profile));
        }
        Ok(Self {
            population,
            servers: profiles,
            clients,
            world: None,
            baseline: Vec::new(),
            longer: Vec::new(),
            columns: columns(),
            packets: 0,
        })
    }

    /// Makes the server that of an arm.
    fn enter(&self, point: &mut Point, arm: usize) {
        let server = &mut point.hosts[SERVER];
        let name = std::mem::take(&mut server.name);
        *server = self.population.arms[arm].clone();
        server.name = name;
        // What a profile is made of stands in it.
        server.profile = None;
        server.behaviour.clear();
    }

    /// Runs connection `number` in every arm and adds what each did to the sums of the arm; gives how much longer than
    /// in the baseline its responses took in each, in microseconds. `rows`, when there are some, gets a row of each.
    pub(crate) fn run(
        &mut self,
        number: u64,
        sums: &mut [Sums],
        mut rows: Option<&mut Vec<u8>>,
    ) -> Result<&[i64], LabError> {
        self.longer.clear();
        let drawn = self.population.draw(number);
        let mut point = self.population.point(&drawn);
        for client in &mut point.hosts[1..] {
            client.profile = None;
            client.behaviour.clear();
        }
        for (arm, sums) in sums.iter_mut().enumerate() {
            self.enter(&mut point, arm);
            let profiles = [
                self.servers[arm].clone(),
                self.clients[drawn.client].clone(),
            ];
            let cannot = |e: tcplab_sim::SimError| LabError::Point(e.to_string());
            let world = match &mut self.world {
                Some(world) => {
                    world.reset(&point, &profiles).map_err(cannot)?;
                    world
                }
                None => {
                    let world = World::new(&point, &profiles).map_err(cannot)?;
                    let world = self.world.insert(world);
                    world.time_responses();
                    world
                }
            };
            world.simulate(|| true);
            if let Some(why) = world.exhausted() {
                let arm = &self.population.arms[arm].name;
                return Err(LabError::Limit(format!(
                    "connection {number} in {arm}: {why}; finished arms are kept"
                )));
            }
            self.packets += world.work().tcp_packets;
            sums.add(world, SERVER, &drawn);
            if arm == 0 {
                self.baseline = world.responses().to_vec();
            }
            self.longer
                .push(sums.pair(world.responses(), &self.baseline));
            if let Some(rows) = &mut rows {
                let seen = Seen {
                    drawn: &drawn,
                    arm: &self.population.arms[arm].name,
                    world,
                    server: SERVER,
                };
                put(&self.columns, &seen, rows);
            }
        }
        Ok(&self.longer)
    }
}
